//! Lists that are kept sorted by a key.

/// Returns the entry with this key, inserting `new()` if there is none yet.
pub fn entry<'a, T, K: Ord>(
    list: &'a mut Vec<T>,
    key: impl Fn(&T) -> K,
    wanted: &K,
    new: impl FnOnce() -> T,
) -> &'a mut T {
    let place = match list.binary_search_by(|one| key(one).cmp(wanted)) {
        Ok(place) => place,
        Err(place) => {
            list.insert(place, new());
            place
        }
    };
    &mut list[place]
}
