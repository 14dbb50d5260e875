/// Keeps a provider token from one process to the next.
///
/// The service takes a new token of a key every twenty minutes at most, and answers TooManyProviderTokenUpdates to more. An
/// engine's journal keeps the token of its connectors; a program that only manages channels, and ends, needs another place.
///
/// A note is a secret for an hour: its holder can send in the team's name. A damaged or old note, or one of another key, does
/// no harm: each is checked, with its signature.
public protocol ProviderTokenStore: Sendable {
    /// The notes kept under this name, without unreadable ones. The first valid note is used.
    func notes(_ name: String) async -> [[UInt8]]

    /// Keeps a note, and replaces the one before.
    func keep(_ note: [UInt8], as name: String) async
}
