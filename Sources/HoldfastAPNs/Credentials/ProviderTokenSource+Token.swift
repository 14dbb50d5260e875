internal import Holdfast
internal import HoldfastOpenSSL

extension ProviderTokenSource {
    /// The value of `authorization`: a JWT with the team as its issuer, signed with the team's key.
    package struct Token: Hashable, Sendable {
        /// `bearer …`
        package let authorization: [UInt8]
        let mintedAt: WallTime
        /// It was minted because the service had called the one before expired, or had refused it for a wrong clock.
        let isReplacement: Bool

        private static let prefix = Array("bearer ".utf8)

        /// Signs a new one.
        init(_ key: APNsSigningKey, at now: WallTime, isReplacement: Bool) throws(APNsConfigurationError) {
            var text = Self.signed(key, at: now)
            do throws(OpenSSLError) {
                let signature = try key.key.sign(text.span)
                text.append(UInt8(ascii: "."))
                text += Base64URL.encode(signature.span)
            } catch {
                throw APNsConfigurationError("a provider token can't be signed: \(error)")
            }
            (authorization, mintedAt, self.isReplacement) = (Self.prefix + text, now, isReplacement)
        }

        /// Header and claims, which the signature is of.
        private static func signed(_ key: APNsSigningKey, at time: WallTime) -> [UInt8] {
            let header = #"{"alg":"ES256","kid":"\#(key.keyID)"}"#
            // iat is an integer: as a text it is InvalidProviderToken.
            let claims = #"{"iss":"\#(key.teamID)","iat":\#(time.seconds)}"#
            return Base64URL.encode(Array(header.utf8).span) + [UInt8(ascii: ".")]
                + Base64URL.encode(Array(claims.utf8).span)
        }

        // MARK: Across restarts

        /// The name of its note in a journal.
        static func noteName(_ key: APNsSigningKey) -> String { "apns-token/\(key.teamID)/\(key.keyID)" }

        private static let noteVersion: UInt8 = 1
        /// Bytes. A token has some two hundred.
        private static let greatestNote = 2048

        /// Version, fingerprint of the key, whether it is a replacement, time of minting (milliseconds, big-endian),
        /// authorization.
        func note(_ key: APNsSigningKey) -> [UInt8] {
            var note = [Self.noteVersion] + key.fingerprint + [isReplacement ? 1 : 0]
            let milliseconds = UInt64(bitPattern: mintedAt.milliseconds)
            for shift in stride(from: 56, through: 0, by: -8) {
                note.append(UInt8(truncatingIfNeeded: milliseconds >> UInt64(shift)))
            }
            return note + authorization
        }

        /// A token from an earlier process; `nil` when the note is no token of this key. Every byte is checked, and the
        /// signature.
        init?(note: [UInt8], _ key: APNsSigningKey) {
            let head = 1 + key.fingerprint.count
            guard (head + 9..<Self.greatestNote).contains(note.count), note[0] == Self.noteVersion,
                note[1..<head].elementsEqual(key.fingerprint), note[head] <= 1
            else { return nil }
            let milliseconds = note[(head + 1)..<(head + 9)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let time = WallTime(milliseconds: Int64(bitPattern: milliseconds))
            let signed = Self.signed(key, at: time)
            let start = Self.prefix + signed + [UInt8(ascii: ".")]
            let authorization = Array(note[(head + 9)...])
            guard authorization.starts(with: start) else { return nil }
            let digits = Array(authorization[start.count...])
            guard let signature = Base64URL.decode(digits.span),
                key.key.publicKey.verify(signature: signature.span, of: signed.span)
            else { return nil }
            (self.authorization, mintedAt, isReplacement) = (authorization, time, note[head] == 1)
        }
    }
}
