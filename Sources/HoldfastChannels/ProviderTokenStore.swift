/// Keeps a provider token from one process to the next.
///
/// The service takes a new token of a key every twenty minutes at most, and answers TooManyProviderTokenUpdates to more. An
/// engine's journal keeps the token of its connectors; a program that only manages channels, and ends, needs another place.
///
/// What is kept is a secret for an hour: whoever has it can send in the team's name. A note that was damaged, is too old or
/// of another key does no harm: each is checked, signature and all.
public protocol ProviderTokenStore: Sendable {
    /// What was kept under this name: the first that is good is used. What can't be read is left out.
    func notes(_ name: String) async -> [[UInt8]]

    /// Keeps a note, in place of the one before.
    func keep(_ note: [UInt8], as name: String) async
}
