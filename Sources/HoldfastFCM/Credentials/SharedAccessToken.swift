internal import Holdfast

/// An access token as hosts share it: to be used, or marked as refused by the service, so that nobody takes it again.
struct SharedAccessToken: Equatable, Sendable {
    var token: AccessToken
    var isRefused = false

    // MARK: In the store

    /// Another than that of journals, which have no flags.
    private static let noteVersion: UInt8 = 2
    private static let replacementFlag: UInt8 = 1
    private static let refusedFlag: UInt8 = 2

    /// Version, flags, and the token's note.
    func note(_ fingerprint: [UInt8]) -> [UInt8] {
        let flags = (token.isReplacement ? Self.replacementFlag : 0) | (isRefused ? Self.refusedFlag : 0)
        return [Self.noteVersion, flags] + token.note(fingerprint)
    }

    init(_ token: AccessToken, isRefused: Bool = false) { (self.token, self.isRefused) = (token, isRefused) }

    /// `nil` when the note is none of these credentials. Every byte is checked.
    init?(note: [UInt8], _ fingerprint: [UInt8]) {
        guard note.count > 2, note[0] == Self.noteVersion, note[1] & ~(Self.replacementFlag | Self.refusedFlag) == 0,
            var token = AccessToken(note: Array(note[2...]), fingerprint)
        else { return nil }
        token.isReplacement = note[1] & Self.replacementFlag != 0
        self.init(token, isRefused: note[1] & Self.refusedFlag != 0)
    }
}
