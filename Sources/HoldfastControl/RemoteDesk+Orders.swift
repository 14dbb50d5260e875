public import Holdfast

extension RemoteDesk {
    public func status() async throws -> DeskStatus { try await call(.status, as: StatusForm.self).value() }

    public func insights(_ uids: [UID]) async throws -> [EntryInsight] {
        try await call(.insights, try Form.line(UIDsForm(uids)), as: InsightsForm.self).insights
            .compactMap { $0.value() }
    }

    public func pause(_ lane: LaneKey, reason: String) async throws {
        let order = LaneOrderForm(lane: lane.description, reason: reason)
        _ = try await call(.pause, try Form.line(order), as: LaneChangeForm.self)
    }

    public func resume(_ lane: LaneKey) async throws {
        let order = LaneOrderForm(lane: lane.description)
        _ = try await call(.resume, try Form.line(order), as: LaneChangeForm.self)
    }

    public func reloadCredentials() async throws -> [CredentialReload] {
        try await call(.reloadCredentials, as: ReloadsForm.self).routes.map { $0.value() }
    }

    public func submit(_ notifications: [PushNotification]) async throws -> [Receipt] {
        let body = try Form.line(NotificationsForm(notifications))
        let receipts = try await call(.submit, body, as: ReceiptsForm.self).receipts.map { try $0.value() }
        guard receipts.count == notifications.count else {
            throw ControlError.malformed("the owner's answer lacks what it is to say")
        }
        return receipts
    }

    public func withdraw(_ uids: [UID]) async throws -> Withdrawal {
        try await call(.withdraw, try Form.line(UIDsForm(uids)), as: WithdrawalForm.self).value()
    }

    public func retry(_ rejections: [UID]) async throws -> [Retry] {
        try await call(.retry, try Form.line(UIDsForm(rejections)), as: RetriesForm.self).retries.map { $0.value() }
    }

    public func discard(_ rejections: [UID]) async throws -> Int {
        try await call(.discard, try Form.line(UIDsForm(rejections)), as: DiscardForm.self).discarded
    }

    public func retryQuarantined(_ uids: [UID]) async throws -> [UID] {
        try await call(.retryQuarantined, try Form.line(UIDsForm(uids)), as: UIDsForm.self).value()
    }

    public func blacklist(_ entries: [BlacklistEntry]) async throws {
        _ = try await call(
            .blacklist, try Form.line(BlacklistEntriesForm(entries)), as: BlacklistAdditionForm.self)
    }

    public func unblacklist(_ keys: [BlacklistKey]) async throws -> Int {
        try await call(.unblacklist, try Form.line(BlacklistKeysForm(keys)), as: BlacklistRemovalForm.self).removed
    }

    public func restore(_ entries: [RestoredEntry], note: RestoreNote?) async throws -> [UID] {
        try await call(.restore, try Form.line(RestoreForm(entries, note)), as: UIDsForm.self).value()
    }
}
