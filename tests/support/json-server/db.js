// Kept in memory: every start begins anew. A post whose id is no number makes the server draw ids at random: it would give
// the next post the highest number plus one, which is that of a post that was just removed.
module.exports = () => ({ posts: [{ id: "first" }], comments: [] });
