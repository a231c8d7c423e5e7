//! A game node that does what the test tells it to. Only claims it answers by itself, as a real
//! one would, through the registry. It is of a newer version than the gateway, and says something
//! of its own first: in no test may that end a link.

use std::collections::HashMap;
use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use protocol::frame::{decode, encode};
use protocol::link::{
    Ask, Claim, Claimed, GATEWAY_LINK_PATH, Handed, Known, KnownPerson, Outcome, Parting, Question,
    Receiver, Show, ToGateway, ToNode, Unsaved,
};
use protocol::parts::{Fragment, SharedParts};
use protocol::server::LoadLevel;
use protocol::version::{VERSION, VERSION_HEADER};
use protocol::{ConnectionId, ErrorCode, LobbyCode};
use registry::{
    Born, Create, Delete, Epoch, Incarnation, Lifetime, Membership, NodeId, Owner, Presence,
    PresenceConfig, Registry, Release, Role, Seq,
};
use serde_json::{Value, json};
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

pub(crate) const SECRET: &str = "between us";
const CEILING: Duration = Duration::from_secs(15);

pub(crate) struct Node {
    shared: Arc<Shared>,
    asks: mpsc::UnboundedReceiver<(Link, Ask)>,
    detaches: mpsc::UnboundedReceiver<ConnectionId>,
    claims: mpsc::UnboundedReceiver<Claim>,
    questions: mpsc::UnboundedReceiver<Question>,
    /// Which link the last ask of a connection came by.
    last_link: Option<Link>,
    listening: JoinHandle<std::io::Result<()>>,
    /// None once it beats no more.
    membership: Option<Membership>,
}

/// Numbers the links in the order in which they came.
type Link = usize;

struct Shared {
    own: Owner,
    registry: Registry,
    links: Mutex<Vec<mpsc::UnboundedSender<ToGateway>>>,
    everybody: broadcast::Sender<ToGateway>,
    drop_all: Mutex<CancellationToken>,
    stands_still: CancellationToken,
    asked: mpsc::UnboundedSender<(Link, Ask)>,
    detached: mpsc::UnboundedSender<ConnectionId>,
    claimed: mpsc::UnboundedSender<Claim>,
    questioned: mpsc::UnboundedSender<Question>,
    /// The lobbies that it owns, with their epochs.
    held: Mutex<HashMap<LobbyCode, u64>>,
    people: Mutex<HashMap<String, (LobbyCode, KnownPerson)>>,
    refuses_claims: AtomicBool,
    answers_no_claim: AtomicBool,
    is_suspended: AtomicBool,
    unsaved: Mutex<Unsaved>,
}

impl Node {
    pub(crate) const ID: &str = "game-fake";

    pub(crate) async fn start(registry: &Registry) -> Self {
        Self::start_as(registry, Self::ID).await
    }

    pub(crate) async fn start_as(registry: &Registry, id: &str) -> Self {
        Self::start_with(registry, id, PresenceConfig::default()).await
    }

    pub(crate) async fn start_with(
        registry: &Registry,
        id: &str,
        presence: PresenceConfig,
    ) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let own = Owner {
            node: NodeId::new(id).unwrap(),
            incarnation: Incarnation::new(uuid::Uuid::from_u128(1)),
        };
        let (asked, asks) = mpsc::unbounded_channel();
        let (left, detaches) = mpsc::unbounded_channel();
        let (claimed, claims) = mpsc::unbounded_channel();
        let (questioned, questions) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            own: own.clone(),
            registry: registry.clone(),
            links: Mutex::default(),
            everybody: broadcast::channel(16).0,
            drop_all: Mutex::default(),
            stands_still: CancellationToken::new(),
            asked,
            detached: left,
            claimed,
            questioned,
            held: Mutex::default(),
            people: Mutex::default(),
            refuses_claims: AtomicBool::new(false),
            answers_no_claim: AtomicBool::new(false),
            is_suspended: AtomicBool::new(false),
            unsaved: Mutex::default(),
        });
        let app = Router::new()
            .route(GATEWAY_LINK_PATH, any(upgrade))
            .with_state(Arc::clone(&shared));
        let listening = tokio::spawn(axum::serve(listener, app).into_future());
        let role = Role::new("game").unwrap();
        let (node, incarnation) = (own.node, own.incarnation);
        let mut own = Presence::new(node, role, incarnation, address.to_string(), "1");
        own.accepting_games = true;
        let membership = registry.join(own, presence).unwrap();
        membership.ready().await;
        Self {
            shared,
            asks,
            detaches,
            claims,
            questions,
            last_link: None,
            listening,
            membership: Some(membership),
        }
    }

    /// What it says with each pong from now on.
    pub(crate) fn has_unsaved(&self, unsaved: Unsaved) {
        *self.shared.unsaved.lock().unwrap() = unsaved;
    }

    /// Its heartbeats end without a goodbye; its links live.
    pub(crate) fn beats_no_more(&mut self) {
        self.membership = None;
    }

    /// Is silent from now on, as one is whose host is gone: nothing is refused either.
    pub(crate) fn stands_still(&mut self) {
        self.beats_no_more();
        self.shared.stands_still.cancel();
    }

    /// Ends like a killed process: no goodbye, links reset, nobody listens.
    pub(crate) fn kill(self) {
        self.listening.abort();
        self.drop_links();
    }

    /// The next claim that it is asked for.
    pub(crate) async fn claim(&mut self) -> Claim {
        timeout(CEILING, self.claims.recv())
            .await
            .expect("a claim in time")
            .unwrap()
    }

    /// The next question of what the registry does not say.
    pub(crate) async fn question(&mut self) -> Question {
        timeout(CEILING, self.questions.recv())
            .await
            .expect("a question in time")
            .unwrap()
    }

    pub(crate) fn claims_so_far(&mut self) -> usize {
        std::iter::from_fn(|| self.claims.try_recv().ok()).count()
    }

    /// From now on it takes no lobby over.
    pub(crate) fn refuse_claims(&self) {
        self.shared.refuses_claims.store(true, Ordering::SeqCst);
    }

    /// From now on it says nothing to those who want it to.
    pub(crate) fn answer_no_claim(&self) {
        self.shared.answers_no_claim.store(true, Ordering::SeqCst);
    }

    /// It has the lobby at this epoch, whatever the record says.
    pub(crate) fn hold(&self, code: LobbyCode, epoch: u64) {
        self.shared.held.lock().unwrap().insert(code, epoch);
    }

    /// It can't commit.
    pub(crate) fn suspend(&self) {
        self.shared.is_suspended.store(true, Ordering::SeqCst);
    }

    /// Gives a lobby up, and tells its players.
    pub(crate) async fn release(&self, ask: &Ask) {
        let registry = &self.shared.registry;
        let record = registry.owner(ask.code.as_str()).await.unwrap().unwrap();
        let release = Release {
            code: ask.code.to_string(),
            born: record.born,
            epoch: record.epoch,
            seq: record.seq,
        };
        registry.release(&release).await.unwrap();
        self.shared.held.lock().unwrap().remove(&ask.code);
        self.part(ask, Parting::Moved);
    }

    /// Says that it can't commit, and what others shall take.
    pub(crate) async fn hand_over(&self, code: LobbyCode, saved: &'static [u8]) {
        self.suspend();
        let registry = &self.shared.registry;
        let record = registry.owner(code.as_str()).await.unwrap().unwrap();
        let handed = Handed {
            epoch: record.epoch.0,
            seq: record.seq.0 + 1,
            born: record.born.to_string(),
            status: record.status,
            saved: saved.into(),
        };
        let lobbies = vec![(code, handed)];
        let handed = ToGateway::HandsOver { lobbies };
        self.shared.everybody.send(handed).unwrap();
    }

    /// It commits again.
    pub(crate) fn commit_again(&self) {
        self.shared.is_suspended.store(false, Ordering::SeqCst);
        self.shared.everybody.send(ToGateway::CommitsAgain).unwrap();
    }

    /// From now on it says whose token it is that has asked this.
    pub(crate) fn knows(&self, ask: &Ask) {
        let person = KnownPerson {
            player: ask.person.player.clone(),
            name: None,
            generation: ask.person.generation,
        };
        let token = ask.person.token.as_str().to_owned();
        let mut people = self.shared.people.lock().unwrap();
        people.insert(token, (ask.code, person));
    }

    /// Others ask it last to take a lobby.
    pub(crate) fn drain(&self) {
        let draining = registry::State::Draining;
        let membership = self.membership.as_ref().expect("it beats");
        membership.update(|own| own.state = draining);
    }

    /// It has dropped its copy, while the record still names it.
    pub(crate) fn lose(&self, code: LobbyCode) {
        self.shared.held.lock().unwrap().remove(&code);
    }

    pub(crate) async fn say_goodbye(&self) {
        self.membership.as_ref().expect("it beats").leave().await;
    }

    pub(crate) fn owner(&self) -> Owner {
        self.shared.own.clone()
    }

    pub(crate) fn holds(&self, code: LobbyCode) -> bool {
        self.shared.held.lock().unwrap().contains_key(&code)
    }

    /// The next thing that a player asks for.
    pub(crate) async fn ask(&mut self) -> Ask {
        let (link, ask) = timeout(CEILING, self.asks.recv())
            .await
            .expect("an ask in time")
            .unwrap();
        self.last_link = Some(link);
        ask
    }

    pub(crate) fn asks_so_far(&mut self) -> Vec<Ask> {
        std::iter::from_fn(|| self.asks.try_recv().ok())
            .map(|(_, ask)| ask)
            .collect()
    }

    pub(crate) async fn detached(&mut self) -> ConnectionId {
        timeout(CEILING, self.detaches.recv())
            .await
            .expect("a detach in time")
            .unwrap()
    }

    pub(crate) async fn detached_within(&mut self, time: Duration) -> Option<ConnectionId> {
        timeout(time, self.detaches.recv()).await.ok().flatten()
    }

    pub(crate) fn done(&self, ask: &Ask) {
        self.answer(ask, Outcome::Done);
    }

    pub(crate) fn refuse(&self, ask: &Ask, code: ErrorCode) {
        self.answer(
            ask,
            Outcome::Refused {
                code,
                message: "no".to_owned(),
                retry_after_ms: None,
            },
        );
    }

    /// Answers the way back to a table.
    pub(crate) fn attached(&self, ask: &Ask, taken: u64) {
        assert!(matches!(
            ask.request,
            protocol::link::Request::Attach { .. }
        ));
        self.answer(ask, Outcome::Attached { taken });
    }

    pub(crate) fn not_owner(&self, ask: &Ask) {
        self.answer(ask, Outcome::NotOwner);
    }

    fn answer(&self, ask: &Ask, outcome: Outcome) {
        self.send(ToGateway::Answer {
            connection: ask.connection,
            number: ask.number,
            outcome,
        });
    }

    /// Shows a picture to connections of the gateway that asked last.
    pub(crate) fn show(&self, code: LobbyCode, seq: u64, to: &[ConnectionId]) {
        self.show_lobby(code, seq, &json!({ "code": code }), to);
    }

    /// Shows a picture with this as the lobby's part.
    pub(crate) fn show_lobby(&self, code: LobbyCode, seq: u64, lobby: &Value, to: &[ConnectionId]) {
        let shared = SharedParts {
            seq,
            lobby: Fragment::of(lobby),
            game: None,
        };
        let to = to
            .iter()
            .map(|&connection| Receiver {
                connection,
                own: None,
            })
            .collect();
        let events = vec![Fragment::of(&json!({ "type": "seen", "seq": seq }))];
        let own = Vec::new();
        let held = self.shared.held.lock().unwrap().get(&code).copied();
        self.send(ToGateway::Show(Show {
            code,
            epoch: held.unwrap_or(1),
            shared,
            events,
            own,
            to,
            traces: Vec::new(),
        }));
    }

    pub(crate) fn part(&self, ask: &Ask, reason: Parting) {
        self.send(ToGateway::Parted {
            code: ask.code,
            connection: ask.connection,
            reason,
        });
    }

    pub(crate) fn accept(&self, accepting_games: bool) {
        let status = ToGateway::Status {
            level: LoadLevel::Normal,
            accepting_games,
        };
        self.shared.everybody.send(status).unwrap();
    }

    /// Breaks all links; new ones are taken at once.
    pub(crate) fn drop_links(&self) {
        std::mem::take(&mut *self.shared.drop_all.lock().unwrap()).cancel();
    }

    /// Writes that this node owns the code.
    pub(crate) async fn own(&self, registry: &Registry, code: LobbyCode) {
        let owner = self.owner();
        self.shared.held.lock().unwrap().insert(code, 1);
        let (code, born) = (code.to_string(), Born::new([1; 8]));
        let (saved, status) = (Vec::new().into(), "waiting".to_owned());
        let lifetime = Lifetime::Table;
        let create = Create {
            code,
            born,
            owner,
            saved,
            status,
            lifetime,
        };
        registry.create(&create).await.unwrap();
    }

    /// Writes that the lobby is gone.
    pub(crate) async fn end(&self, registry: &Registry, code: LobbyCode) {
        let record = registry.owner(code.as_str()).await.unwrap().unwrap();
        let (code, born) = (code.to_string(), Born::new([1; 8]));
        let delete = Delete {
            code,
            born,
            epoch: record.epoch,
        };
        registry.delete(&delete).await.unwrap();
    }

    fn send(&self, message: ToGateway) {
        let link = self.last_link.expect("somebody has asked");
        // A link that has been dropped takes nothing, like a real one.
        let _dropped = self.shared.links.lock().unwrap()[link].send(message);
    }
}

async fn upgrade(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    let bearer = headers
        .get("authorization")
        .map(|value| value.as_bytes().to_vec());
    if shared.stands_still.is_cancelled() {
        pending::<()>().await;
    }
    if bearer != Some(format!("Bearer {SECRET}").into_bytes()) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let mut response = upgrade.on_upgrade(move |socket| carry(shared, socket));
    let newer = HeaderValue::from(VERSION + 1);
    response.headers_mut().insert(VERSION_HEADER, newer);
    response
}

async fn carry(shared: Arc<Shared>, mut socket: WebSocket) {
    let dropped = shared.drop_all.lock().unwrap().clone();
    let (sender, mut queue) = mpsc::unbounded_channel();
    let link = {
        let mut links = shared.links.lock().unwrap();
        links.push(sender.clone());
        links.len() - 1
    };
    let mut everybody = shared.everybody.subscribe();
    let unknown = encode(&json!({ "forecast": { "weather": "fair" } }));
    let _gone = socket.send(Message::Binary(unknown.into())).await;
    loop {
        tokio::select! {
            message = queue.recv() => send(&mut socket, message.unwrap()).await,
            Ok(message) = everybody.recv() => send(&mut socket, message).await,
            () = dropped.cancelled() => return,
            () = shared.stands_still.cancelled() => pending().await,
            message = socket.recv() => match message {
                Some(Ok(Message::Binary(bytes))) => {
                    let message = decode(&bytes).unwrap();
                    for answer in react(&shared, link, message).await {
                        send(&mut socket, answer).await;
                    }
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return,
            },
        }
    }
}

async fn react(shared: &Shared, link: Link, message: ToNode) -> Vec<ToGateway> {
    match message {
        ToNode::Hello { .. } => {
            let incarnation = shared.own.incarnation.uuid();
            let hello = ToGateway::Hello {
                node: shared.own.node.to_string(),
                incarnation,
            };
            let (level, accepting_games) = (LoadLevel::Normal, true);
            vec![
                hello,
                ToGateway::Status {
                    level,
                    accepting_games,
                },
            ]
        }
        ToNode::Ping { nonce, .. } => vec![ToGateway::Pong {
            nonce,
            unsaved: Some(*shared.unsaved.lock().unwrap()),
        }],
        ToNode::Probe { request } => vec![ToGateway::Probed {
            request,
            failure: None,
        }],
        ToNode::Claim { claim, .. } if shared.answers_no_claim.load(Ordering::SeqCst) => {
            shared.claimed.send(claim).unwrap();
            Vec::new()
        }
        ToNode::Claim { request, claim } => {
            let outcome = take_over(shared, &claim).await;
            shared.claimed.send(claim).unwrap();
            vec![ToGateway::Claimed { request, outcome }]
        }
        ToNode::Question { request, question } => {
            let known = known(shared, &question);
            shared.questioned.send(question).unwrap();
            vec![ToGateway::Knows { request, known }]
        }
        // As a node whose lobby thread hangs.
        ToNode::Inspect { .. } => Vec::new(),
        ToNode::Ask(ask) => {
            shared.asked.send((link, ask)).unwrap();
            Vec::new()
        }
        ToNode::Detach { connection, .. } => {
            shared.detached.send(connection).unwrap();
            Vec::new()
        }
    }
}

async fn send(socket: &mut WebSocket, message: ToGateway) {
    // A gateway that has gone is noticed when reading.
    let _gone = socket.send(Message::Binary(encode(&message).into())).await;
}

async fn take_over(shared: &Shared, claim: &Claim) -> Claimed {
    if shared.is_suspended.load(Ordering::SeqCst) {
        return Claimed::Refused;
    }
    if let Some(epoch) = shared.held.lock().unwrap().get(&claim.code) {
        return Claimed::Owned { epoch: *epoch };
    }
    if shared.refuses_claims.load(Ordering::SeqCst) {
        return Claimed::Refused;
    }
    let handed = claim.handed.as_ref().map(|handed| registry::Handed {
        epoch: Epoch(handed.epoch),
        seq: Seq(handed.seq),
        saved: handed.saved.clone(),
        status: handed.status.clone(),
    });
    let asked = registry::Claim {
        code: claim.code.to_string(),
        born: claim.born.parse().unwrap(),
        seen_epoch: Epoch(claim.epoch),
        seen_seq: Seq(claim.seq),
        owner: shared.own.clone(),
        handed,
    };
    match shared.registry.claim(&asked).await.unwrap() {
        registry::Claimed::Saved { epoch, .. } => {
            shared.held.lock().unwrap().insert(claim.code, epoch.0);
            Claimed::Owned { epoch: epoch.0 }
        }
        registry::Claimed::OwnedBy(_) => Claimed::MovedOn,
        registry::Claimed::Gone => Claimed::Gone,
        registry::Claimed::Wait { milliseconds } => Claimed::Wait { milliseconds },
    }
}

fn known(shared: &Shared, question: &Question) -> Option<Known> {
    let (code, person) = match question {
        Question::Lobby(code) => (*code, None),
        Question::Session(token) => {
            let people = shared.people.lock().unwrap();
            let (code, person) = people.get(token.as_str())?.clone();
            (code, Some(person))
        }
    };
    let epoch = *shared.held.lock().unwrap().get(&code)?;
    let born = Born::new([1; 8]).to_string();
    let suspended = shared.is_suspended.load(Ordering::SeqCst);
    Some(Known {
        code,
        born,
        epoch,
        suspended,
        person,
    })
}
