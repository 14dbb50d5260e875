internal import Holdfast

/// An access token: the bearer that authorizes requests.
struct AccessToken: Hashable, Sendable {
    /// The text behind `Bearer `, a secret.
    let text: String
    let fetchedAt: WallTime
    let expiresAt: WallTime
    /// It was fetched because the service had refused the one before.
    var isReplacement = false

    /// Bytes. Google's have up to some two thousand.
    static let greatestByteCount = 8192

    /// The value of `authorization`.
    var authorization: [UInt8] { Array("Bearer ".utf8) + text.utf8 }

    /// Whether the text can stand in a header field: visible ASCII without spaces.
    static func isToken(_ text: some StringProtocol) -> Bool {
        (1...greatestByteCount).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }

    // MARK: Across restarts

    private static let noteVersion: UInt8 = 1
    private static let headByteCount = 1 + 32 + 8 + 8

    /// Version, fingerprint of the credentials, times of fetching and of expiry (milliseconds, big-endian), text.
    func note(_ fingerprint: [UInt8]) -> [UInt8] {
        var note = [Self.noteVersion] + fingerprint
        for time in [fetchedAt, expiresAt] {
            let milliseconds = UInt64(bitPattern: time.milliseconds)
            for shift in stride(from: 56, through: 0, by: -8) {
                note.append(UInt8(truncatingIfNeeded: milliseconds >> UInt64(shift)))
            }
        }
        return note + text.utf8
    }

    init(text: String, fetchedAt: WallTime, expiresAt: WallTime, isReplacement: Bool = false) {
        (self.text, self.fetchedAt, self.expiresAt) = (text, fetchedAt, expiresAt)
        self.isReplacement = isReplacement
    }

    /// A token from an earlier process; `nil` when the note is none of these credentials. Every byte is checked.
    init?(note: [UInt8], _ fingerprint: [UInt8]) {
        let head = Self.headByteCount
        guard note.count > head, note[0] == Self.noteVersion, note[1..<33].elementsEqual(fingerprint) else {
            return nil
        }
        func time(at start: Int) -> WallTime {
            let bits = note[start..<start + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return WallTime(milliseconds: Int64(bitPattern: bits))
        }
        let text = String(decoding: note[head...], as: UTF8.self)
        guard Self.isToken(text) else { return nil }
        self.init(text: text, fetchedAt: time(at: 33), expiresAt: time(at: 41))
        guard fetchedAt < expiresAt else { return nil }
    }
}
