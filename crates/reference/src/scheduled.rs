//! The reference server: each request is answered when its discipline says that its service is done.

use crate::connection::Connection;
use crate::http::{Answer, Framing, Method, Request, Timing};
use crate::routes::{self, Plan, Wait};
use crate::scheduler::{Need, Scheduler};
use crate::site::Site;
use jostle_simulator::discipline::Nanos;
use rand::Rng;
use std::io;
use std::rc::Rc;

pub struct Scheduled {
    /// The body of `/`.
    about: String,
    /// By which every demand of service is multiplied.
    factor: f64,
    scheduler: Rc<Scheduler>,
}

impl Scheduled {
    pub fn new(name: &str, workers: usize, slower: f64, scheduler: Rc<Scheduler>) -> Self {
        let version = env!("CARGO_PKG_VERSION");
        let about = format!(
            "{{\"name\": \"reference-{name}\", \"version\": \"{version}\", \
             \"runtime\": \"jostle-reference\", \"workers\": {workers}}}"
        );
        Self {
            about,
            factor: 1.0 + slower / 100.0,
            scheduler,
        }
    }
}

impl Site for Scheduled {
    type Task = Plan;

    fn understand(&self, request: &Request) -> Plan {
        if request.framing.method == Method::Other {
            let answer = Answer::refusal(405, "only GET and HEAD are served here");
            return Plan {
                answer,
                wait: Wait::No,
            };
        }
        routes::plan(request.target, &self.about)
    }

    async fn answer(
        &self,
        plan: Plan,
        framing: Framing,
        connection: &mut Connection,
    ) -> io::Result<()> {
        let timing = match need(plan.wait, self.factor) {
            None => None,
            Some(need) => {
                connection.flush().await?; // earlier answers must not wait for this one
                let sojourn = self.scheduler.fulfil(need, connection.number).await?;
                let (Need::Service(demand) | Need::Delay(demand)) = need;
                Some(Timing { demand, sojourn })
            }
        };
        plan.answer.encode(
            framing.method,
            framing.persistence,
            timing,
            &mut connection.output,
        );
        Ok(())
    }
}

fn need(wait: Wait, factor: f64) -> Option<Need> {
    match wait {
        Wait::No => None,
        Wait::For(Need::Service(demand)) => {
            Some(Need::Service((demand as f64 * factor).round() as Nanos))
        }
        Wait::For(need) => Some(need),
        Wait::Jittered { mean, jitter } => {
            let deviation = rand::rng().random_range(-jitter..=jitter);
            Some(Need::Delay((mean * (1.0 + deviation)) as u64))
        }
    }
}
