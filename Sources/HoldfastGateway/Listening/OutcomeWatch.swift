internal import Holdfast

/// The watch of one submission: how its notifications end is kept for those who ask, from before it until ``end()``.
struct OutcomeWatch: Sendable {
    let feed: OutcomeFeed
    let watch: OutcomeFeed.Watch

    /// - Parameter feed: nil where no outcomes are kept; then nobody can wait.
    init?(_ feed: OutcomeFeed?) {
        guard let feed else { return nil }
        self.feed = feed
        watch = feed.begin()
    }

    func end() { feed.end(watch) }
}
