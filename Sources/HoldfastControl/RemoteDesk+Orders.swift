public import Holdfast

extension RemoteDesk {
    public func status() async throws -> DeskStatus {
        let (_, answer) = try await call(.status)
        return try WireStatusItem.status(try answer.items(as: WireStatusItem.self))
    }

    public func insights(_ uids: [UID]) async throws -> [EntryInsight] {
        let (_, answer) = try await call(.insights(uids))
        return try answer.items(as: WireInsight.self).compactMap { $0.value() }
    }

    public func pause(_ lane: LaneKey, reason: String) async throws {
        _ = try await call(.pause(lane, reason: reason))
    }

    public func resume(_ lane: LaneKey) async throws { _ = try await call(.resume(lane)) }

    public func reloadCredentials() async throws -> [CredentialReload] {
        let (_, answer) = try await call(.reloadCredentials)
        return try answer.items(as: WireReload.self).map { $0.value() }
    }

    public func submit(_ notifications: [PushNotification]) async throws -> [Receipt] {
        let (_, answer) = try await call(.submit(notifications))
        let receipts = try answer.items(as: WireReceipt.self).map { try $0.value() }
        guard receipts.count == notifications.count else { throw Self.incomplete }
        return receipts
    }

    public func withdraw(_ uids: [UID]) async throws -> Withdrawal {
        let (head, _) = try await call(.withdraw(uids))
        guard let withdrawal = head.withdrawal else { throw Self.incomplete }
        return withdrawal.value()
    }

    public func retry(_ rejections: [UID]) async throws -> [Retry] {
        let (_, answer) = try await call(.retry(rejections))
        return try answer.items(as: WireRetry.self).map { $0.value() }
    }

    public func discard(_ rejections: [UID]) async throws -> Int {
        try Self.count(try await call(.discard(rejections)).0)
    }

    public func retryQuarantined(_ uids: [UID]) async throws -> [UID] {
        let (_, answer) = try await call(.retryQuarantined(uids))
        return try answer.uids()
    }

    public func blacklist(_ entries: [BlacklistEntry]) async throws { _ = try await call(.blacklist(entries)) }

    public func unblacklist(_ keys: [BlacklistKey]) async throws -> Int {
        try Self.count(try await call(.unblacklist(keys)).0)
    }

    public func restore(_ entries: [RestoredEntry], note: RestoreNote?) async throws -> [UID] {
        let (_, answer) = try await call(.restore(entries, note: note))
        return try answer.uids()
    }

    private static func count(_ head: AnswerHead) throws(ControlError) -> Int {
        guard let count = head.count else { throw incomplete }
        return count
    }

    private static let incomplete = ControlError(.malformed, "the owner's answer lacks what it is to say")
}
