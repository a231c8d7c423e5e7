//! Samples the load and publishes the level that follows.
//!
//! Runs as a task of the lobby thread's runtime, because that thread's lag and CPU are what it
//! measures. Reading the control group's few short files is all that it ever holds the thread up
//! with, once an interval.

use std::time::Duration;

use protocol::server::LoadLevel;
use tokio::sync::watch;
use tokio::time::Instant;
use tracing::{info, warn};

use super::cpu::{CpuMeter, Usage};
use super::lag::LagMeter;
use super::level::{Hysteresis, Sample};
use super::metrics::Metrics;
use super::{Load, LoadConfig};

/// Publishes for as long as it is polled.
pub(crate) async fn monitor(config: LoadConfig, publisher: watch::Sender<Load>) {
    let mut cpu = CpuMeter::new(config.cpu_of);
    sample_with(config, publisher, move |elapsed| cpu.read(elapsed)).await;
}

/// `read` says what was used in the time that it is given.
async fn sample_with(
    config: LoadConfig,
    publisher: watch::Sender<Load>,
    mut read: impl FnMut(Duration) -> Usage,
) {
    let metrics = Metrics::new();
    let mut lag = LagMeter::new(config.sample_interval);
    // To the nearest tick: a tick that is a little early is not another one late.
    let rounding = lag.tick_interval() / 2;
    let mut state = Hysteresis::default();
    let mut sampled_at = Instant::now();
    loop {
        let now = lag.tick().await;
        let elapsed = now - sampled_at;
        if elapsed + rounding < config.sample_interval {
            continue;
        }
        sampled_at = now;
        let Usage { cpu, throttled } = read(elapsed);
        let sample = Sample {
            loop_lag: lag.take_worst(),
            cpu,
            throttled,
        };
        state = state.after(&sample, &config.thresholds);
        let load = Load {
            level: config.force_level.unwrap_or(state.level()),
            sample,
        };
        metrics.record(&load);
        let before = publisher.send_replace(load);
        tell_change(before.level, &load);
    }
}

fn tell_change(before: LoadLevel, load: &Load) {
    if before == load.level {
        return;
    }
    let Sample {
        loop_lag,
        cpu,
        throttled,
    } = load.sample;
    let (load_level, before) = (load.level.as_str(), before.as_str());
    if load.level == LoadLevel::Overloaded {
        // More than this node can carry: lag, CPU or throttling have been above their thresholds
        // for as long as LOAD_OVERLOAD_SAMPLES says, or the lag is severe.
        warn!(
            before,
            ?loop_lag,
            cpu,
            throttled,
            "overloaded: no new games here"
        );
    } else {
        info!(
            load_level,
            before,
            ?loop_lag,
            cpu,
            throttled,
            "the load has changed"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// A monitor whose CPU readings the test decides.
    struct World {
        reading: Arc<Mutex<Usage>>,
        load: watch::Receiver<Load>,
    }

    impl World {
        fn new(config: LoadConfig) -> Self {
            let reading = Arc::new(Mutex::new(Usage::default()));
            let (publisher, load) = watch::channel(config.at_start());
            tokio::spawn(sample_with(config, publisher, {
                let reading = Arc::clone(&reading);
                move |_elapsed| *reading.lock().unwrap()
            }));
            Self { reading, load }
        }

        fn read(&self, cpu: f64, throttled: f64) {
            *self.reading.lock().unwrap() = Usage { cpu, throttled };
        }

        async fn next(&mut self) -> Load {
            self.load.changed().await.unwrap();
            *self.load.borrow_and_update()
        }

        async fn levels(&mut self, count: usize) -> Vec<LoadLevel> {
            let mut levels = Vec::new();
            for _ in 0..count {
                levels.push(self.next().await.level);
            }
            levels
        }
    }

    #[tokio::test(start_paused = true)]
    async fn overload_is_known_after_three_samples_and_over_after_ten() {
        let mut world = World::new(LoadConfig::default());
        world.read(1.0, 0.9);
        let start = Instant::now();
        let levels = world.levels(3).await;
        assert_eq!(
            levels,
            [LoadLevel::Busy, LoadLevel::Busy, LoadLevel::Overloaded]
        );
        assert!(
            start.elapsed() <= Duration::from_secs(4),
            "{:?}",
            start.elapsed()
        );
        world.read(0.1, 0.0);
        let start = Instant::now();
        let levels = world.levels(10).await;
        assert_eq!(levels[8..], [LoadLevel::Overloaded, LoadLevel::Normal]);
        assert!(
            start.elapsed() <= Duration::from_secs(12),
            "{:?}",
            start.elapsed()
        );
    }

    #[tokio::test(start_paused = true)]
    async fn what_led_to_the_level_is_published_with_it() {
        let mut world = World::new(LoadConfig::default());
        world.read(0.75, 0.25);
        let load = world.next().await;
        assert_eq!(load.level, LoadLevel::Busy);
        assert_eq!(
            load.sample,
            Sample {
                loop_lag: Duration::ZERO,
                cpu: 0.75,
                throttled: 0.25
            }
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_stuck_thread_is_overloaded_at_once() {
        let mut world = World::new(LoadConfig::default());
        assert_eq!(world.next().await.level, LoadLevel::Normal);
        // Nothing else runs meanwhile.
        tokio::time::advance(Duration::from_millis(1500)).await;
        let load = world.next().await;
        assert_eq!(load.level, LoadLevel::Overloaded);
        assert!(load.sample.loop_lag >= Duration::from_secs(1), "{load:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn samples_are_an_interval_apart() {
        let sample_interval = Duration::from_millis(500);
        let mut world = World::new(LoadConfig {
            sample_interval,
            ..LoadConfig::default()
        });
        let start = Instant::now();
        world.levels(20).await;
        assert_eq!(start.elapsed().as_secs(), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn a_forced_level_stays_and_the_numbers_are_real() {
        let force_level = Some(LoadLevel::Overloaded);
        let mut world = World::new(LoadConfig {
            force_level,
            ..LoadConfig::default()
        });
        assert_eq!(
            world.load.borrow().level,
            LoadLevel::Overloaded,
            "from the start on"
        );
        world.read(0.2, 0.0);
        for _ in 0..12 {
            let load = world.next().await;
            assert_eq!((load.level, load.sample.cpu), (LoadLevel::Overloaded, 0.2));
        }
    }
}
