extension HoldfastConfiguration {
    /// A key that an application may have a value for.
    public struct Key: Hashable, Sendable {
        /// The section, an item's name or its place from 0 in a list, and the key: `limits.window`,
        /// `routes.example.signing-key.pem`, `routes.0.name`.
        public let path: String
        /// Whether the value is never to be shown.
        public let isSecret: Bool

        init(path: String, isSecret: Bool) { (self.path, self.isSecret) = (path, isSecret) }
    }
}
