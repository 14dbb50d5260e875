/// A service that ends a connection for one stream too many, instead of refusing the stream.
package struct MockStreamLimit: Sendable {
    /// The most streams at a time, where they are fewer than SETTINGS say: a service that does not keep its word.
    package var hiddenCount: Int?
    /// The GOAWAY. Its last stream is the one before the first that was too many; those up to it are answered.
    package var goAway: MockGoAway

    package init(hiddenCount: Int? = nil, goAway: MockGoAway) {
        self.hiddenCount = hiddenCount
        self.goAway = goAway
    }
}
