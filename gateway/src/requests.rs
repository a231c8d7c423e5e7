//! Questions to nodes whose answers are still to come, by number.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// Questions of one kind that may be under way at once, if whoever asks is bounded by itself (claims,
/// and who asks all nodes): this only keeps a node that answers nothing from being remembered
/// without end.
const MAX_UNDER_WAY: usize = 16 * 1024;

/// Answers of one kind that are awaited.
#[derive(Debug)]
pub(crate) struct Requests<T> {
    most: usize,
    under_way: Mutex<UnderWay<T>>,
}

#[derive(Debug)]
struct UnderWay<T> {
    last: u64,
    waiting: HashMap<u64, oneshot::Sender<T>>,
}

impl<T> Default for Requests<T> {
    fn default() -> Self {
        Self::at_most(MAX_UNDER_WAY)
    }
}

impl<T> Requests<T> {
    /// No more than so many at once.
    pub(crate) fn at_most(most: usize) -> Self {
        let under_way = UnderWay {
            last: 0,
            waiting: HashMap::new(),
        };
        Self {
            most,
            under_way: Mutex::new(under_way),
        }
    }

    /// A number that was never given before, and where its answer will be; none if too many are
    /// awaited already. Dropping it ends the wait.
    pub(crate) fn begin(&self) -> Option<Awaited<'_, T>> {
        let mut under_way = self.lock();
        if under_way.waiting.len() >= self.most {
            return None;
        }
        under_way.last += 1;
        let request = under_way.last;
        let (sender, answer) = oneshot::channel();
        under_way.waiting.insert(request, sender);
        Some(Awaited {
            requests: self,
            request,
            answer,
        })
    }

    /// A node has answered; whoever asked may have given up.
    pub(crate) fn answered(&self, request: u64, answer: T) {
        if let Some(waiting) = self.lock().waiting.remove(&request) {
            let _gone = waiting.send(answer);
        }
    }

    fn lock(&self) -> MutexGuard<'_, UnderWay<T>> {
        self.under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// One answer that is still to come.
pub(crate) struct Awaited<'a, T> {
    requests: &'a Requests<T>,
    pub(crate) request: u64,
    answer: oneshot::Receiver<T>,
}

impl<T> Awaited<'_, T> {
    /// Waits for it.
    pub(crate) async fn answer(&mut self) -> Option<T> {
        (&mut self.answer).await.ok()
    }
}

impl<T> Drop for Awaited<'_, T> {
    fn drop(&mut self) {
        self.requests.lock().waiting.remove(&self.request);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_answer_finds_who_asked_and_nobody_else_is_remembered() {
        let requests = Requests::default();
        let mut one = requests.begin().unwrap();
        let other = requests.begin().unwrap();
        requests.answered(one.request, 'a');
        requests.answered(99, 'b');
        assert_eq!(one.answer().await, Some('a'));
        drop((one, other));
        assert!(requests.lock().waiting.is_empty());
    }

    #[test]
    fn they_are_bounded() {
        let requests = Requests::<()>::at_most(8);
        let all: Vec<_> = (0..8).map(|_| requests.begin().unwrap()).collect();
        assert!(requests.begin().is_none());
        drop(all);
        assert!(requests.begin().is_some());
    }
}
