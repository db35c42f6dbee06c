//! A script as it is loaded.

/// One script of a run.
#[derive(Debug, Clone)]
pub struct Script {
    /// File name, as errors show it.
    pub file: String,
    /// The source, with the numbers of its requests written into it.
    pub source: String,
    /// The methods of its requests, by number.
    pub methods: Vec<String>,
    /// What goes into `Host`.
    pub authority: String,
    /// The value of `Authorization` for requests that set none.
    pub authorization: Option<String>,
    pub cookies: bool,
    /// Names of the feeds' columns, and the slots of their values.
    pub columns: Vec<(String, usize)>,
    /// Whether its pauses are as long as it asks for; when it is only tried out, they are cut to the shortest.
    pub sleeps: bool,
}
