/// The operators who are signed in to the page. Pure: who asks brings the time.
///
/// A session is known by 256 random bits, which only the cookie of one browser has. It ends after an hour without a request,
/// after twelve hours in any case, and when the operators' token is exchanged.
struct PageSessions: Sendable {
    struct Session: Sendable {
        /// The secret of the cookie.
        let id: String
        /// What each change has to bring along beside the cookie.
        let csrf: String
        /// Names the session in the log, and tells nothing of its secrets.
        let label: String
        fileprivate let generation: Int
        fileprivate let began: ContinuousClock.Instant
        fileprivate var lastSeen: ContinuousClock.Instant
    }

    static let idleLimit = Duration.seconds(3600)
    static let lifetime = Duration.seconds(12 * 3600)
    /// A further one ends the one that was silent for longest.
    static let limit = 64

    private var sessions: [Session] = []

    /// - Parameter generation: of the token that was presented.
    mutating func open(_ generation: Int, at now: ContinuousClock.Instant) -> Session {
        if sessions.count >= Self.limit,
            let oldest = sessions.indices.min(by: {
                sessions[$0].lastSeen < sessions[$1].lastSeen
            })
        {
            sessions.remove(at: oldest)
        }
        let session = Session(
            id: Self.secret(), csrf: Self.secret(), label: String(Self.secret().prefix(8)), generation: generation,
            began: now, lastSeen: now)
        sessions.append(session)
        return session
    }

    /// The session of a cookie, which is used by that. All are looked at, each in the same time.
    ///
    /// - Parameter generation: of the token that holds now.
    mutating func session(_ id: String, _ generation: Int, at now: ContinuousClock.Instant) -> Session? {
        sessions.removeAll { session in
            session.generation != generation || now - session.lastSeen >= Self.idleLimit
                || now - session.began >= Self.lifetime
        }
        let presented = Array(id.utf8)
        var found: Int?
        for index in sessions.indices
        where OperatorToken.isEqual(Array(sessions[index].id.utf8), presented) { found = index }
        guard let found else { return nil }
        sessions[found].lastSeen = now
        return sessions[found]
    }

    mutating func close(_ id: String) {
        sessions.removeAll { OperatorToken.isEqual(Array($0.id.utf8), Array(id.utf8)) }
    }

    /// 256 bits of the system's generator, in hex.
    private static func secret() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<4).map { _ in
            let digits = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
