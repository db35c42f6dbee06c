//! Messages over a WebSocket, and every way in which a server can break off or break the rules.

mod hostile;
mod journeys;
mod messages;
mod pings;
mod pushes;
mod server;
