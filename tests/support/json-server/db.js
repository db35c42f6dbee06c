// Kept in memory: every start begins with nothing.
module.exports = () => ({ posts: [], comments: [] });
