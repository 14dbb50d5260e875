package import Holdfast

/// The entries that a request is about.
struct UIDsForm: Codable {
    var uids: [UInt64]

    init(_ uids: [UID]) { self.uids = uids.map(\.rawValue) }

    func value() throws(ControlError) -> [UID] {
        try OperatorDeskLimits.check(uids.count)
        return uids.map { UID($0) }
    }
}

extension OperatorDeskLimits {
    /// - Throws: ``ControlError`` with code `tooLarge`.
    static func check(_ count: Int) throws(ControlError) {
        guard count <= batch else {
            throw ControlError(
                .tooLarge, "the request has \(count) items, and at most \(batch) are taken: send the rest in another")
        }
    }
}

/// A lane to be paused, or to run again.
struct LaneOrderForm: Codable {
    var lane: String
    /// For a pause.
    var reason: String?
}

/// A route that is to try at once whatever it waits for.
struct RouteOrderForm: Codable {
    var route: String
}

/// A lane that was changed.
package struct LaneChangeForm: Codable, Hashable, Sendable {
    package var lane: String
    package var state: String
    package var reason: String?

    /// - Parameter state: `paused` or `running`.
    package init(_ lane: LaneKey, _ state: String, reason: String = "") {
        self.lane = lane.description
        self.state = state
        self.reason = reason.isEmpty ? nil : reason
    }
}

struct ReloadsForm: Codable {
    var routes: [ReloadForm]
}

/// How reading a route's credentials again went.
package struct ReloadForm: Codable, Hashable, Sendable {
    package var route: String
    /// Absent when the credentials are in use.
    package var failure: String?

    package init(_ reload: CredentialReload) {
        route = reload.route
        failure = reload.failure
    }

    func value() -> CredentialReload { CredentialReload(route: route, failure: failure) }
}

/// Entries that were taken back.
package struct WithdrawalForm: Codable, Hashable, Sendable {
    /// Entries that were chosen.
    package var matched: Int
    package var withdrawn: Int
    package var unknown: Int
    package var gone: Int

    package init(_ withdrawal: Withdrawal, matched: Int) {
        self.matched = matched
        withdrawn = withdrawal.withdrawn
        unknown = withdrawal.unknown
        gone = withdrawal.gone
    }

    func value() -> Withdrawal { Withdrawal(withdrawn: withdrawn, unknown: unknown, gone: gone) }
}

struct RetriesForm: Codable {
    var retries: [RetryForm]
}

/// The result of sending one rejection again, with one of `uid`, `refused` and `gone`.
package struct RetryForm: Codable, Hashable, Sendable {
    package var rejection: UInt64
    /// The UID of the new entry.
    package var uid: UInt64?
    /// The reason, and its details.
    package var refused: String?
    package var detail: String?
    package var gone: Bool?

    package init(_ retry: Retry) {
        rejection = retry.rejection.rawValue
        switch retry.result {
        case .accepted(let uid): self.uid = uid.rawValue
        case .refused(let refusal): (refused, detail) = (refusal.reason.rawValue, refusal.detail)
        case .gone: gone = true
        }
    }

    func value() -> Retry {
        let result: Retry.Result =
            if let uid {
                .accepted(UID(uid))
            } else if let refused {
                .refused(Refusal(Reason(rawValue: refused), detail ?? ""))
            } else {
                .gone
            }
        return Retry(rejection: UID(rejection), result: result)
    }
}

/// Rejections that were deleted.
package struct DiscardForm: Codable, Hashable, Sendable {
    /// Rejections that were chosen.
    package var matched: Int
    package var discarded: Int

    package init(matched: Int, discarded: Int) { (self.matched, self.discarded) = (matched, discarded) }
}
