public import Holdfast

extension RemoteDesk {
    /// Reads the lanes of the journal, and how the routes of its owner do.
    public func status() async throws -> DeskStatus { try await call(.status, as: StatusForm.self).value() }

    /// Asks what only the owner knows of these entries, such as whether one is in flight.
    ///
    /// - Returns: nothing for entries of which the owner knows nothing.
    public func insights(_ uids: [UID]) async throws -> [EntryInsight] {
        try await call(.insights, try Form.line(UIDsForm(uids)), as: InsightsForm.self).insights
            .compactMap { $0.value() }
    }

    /// Pauses a lane until it is resumed; durable, so that a restart of the owner does not end the pause.
    ///
    /// - Parameter reason: for people who look; may be empty.
    /// - Throws: `JournalError` with code `notFound` when the journal has no such lane.
    public func pause(_ lane: LaneKey, reason: String) async throws {
        let order = LaneOrderForm(lane: lane.description, reason: reason)
        _ = try await call(.pause, try Form.line(order), as: LaneChangeForm.self)
    }

    /// Lets a paused or stopped lane run again.
    ///
    /// - Throws: `JournalError` with code `notFound` when the journal has no such lane.
    public func resume(_ lane: LaneKey) async throws {
        let order = LaneOrderForm(lane: lane.description)
        _ = try await call(.resume, try Form.line(order), as: LaneChangeForm.self)
    }

    /// Has a route of the owner try at once whatever it waits for, with its backoffs begun anew.
    ///
    /// - Throws: `JournalError` with code `notFound` when the owner has no such route.
    public func connect(route: String) async throws {
        _ = try await call(.connect, try Form.line(RouteOrderForm(route: route)), as: RouteOrderForm.self)
    }

    /// Pauses all notifications with a tag until it is resumed; durable, and heeded by every route on return.
    ///
    /// - Parameter reason: for people who look; may be empty.
    public func pause(tag: [UInt8], reason: String) async throws {
        _ = try await call(.pauseTag, try Form.line(TagOrderForm(tag: tag, reason: reason)), as: TagChangeForm.self)
    }

    /// Lets the notifications with a tag go again.
    ///
    /// - Throws: `JournalError` with code `notFound` for a tag that is not paused.
    public func resume(tag: [UInt8]) async throws {
        _ = try await call(.resumeTag, try Form.line(TagOrderForm(tag: tag)), as: TagChangeForm.self)
    }

    /// Lets the notifications of all paused tags go again.
    public func resumeAllTags() async throws {
        _ = try await call(.resumeTag, try Form.line(TagOrderForm(tag: nil)), as: TagChangeForm.self)
    }

    /// Has every route of the owner read its keys and certificates again.
    ///
    /// - Returns: the result for each route.
    public func reloadCredentials() async throws -> [CredentialReload] {
        try await call(.reloadCredentials, as: ReloadsForm.self).routes.map { $0.value() }
    }

    /// Gives notifications to the owner, which delivers them. An accepted one is on disk when this returns.
    ///
    /// - Returns: a receipt for each, in order.
    public func submit(_ notifications: [PushNotification]) async throws -> [Receipt] {
        try await receipts(.submit, try Form.line(NotificationsForm(notifications)), count: notifications.count)
    }

    /// Gives notifications to the owner under a Producer's name, with a note of how far their file was taken, which becomes
    /// durable in the same commit.
    ///
    /// - Returns: a receipt for each, in order.
    public func submit(
        _ notifications: [PushNotification], as producer: String?, note: RestoreNote?
    ) async throws -> [Receipt] {
        try await receipts(
            .submitLines, try Form.line(LinesForm(notifications, producer, note)), count: notifications.count)
    }

    private func receipts(_ resource: Resource, _ body: [UInt8], count: Int) async throws -> [Receipt] {
        let receipts = try await call(resource, body, as: ReceiptsForm.self).receipts.map { try $0.value() }
        guard receipts.count == count else {
            throw ControlError.malformed("the owner's answer lacks what it is to say")
        }
        return receipts
    }

    /// Takes entries back, so that they are not sent, or not sent again.
    public func withdraw(_ uids: [UID]) async throws -> Withdrawal {
        try await call(.withdraw, try Form.line(UIDsForm(uids)), as: WithdrawalForm.self).value()
    }

    /// Sends rejected entries again, each under a new UID.
    ///
    /// - Returns: the result for each, in order.
    public func retry(_ rejections: [UID]) async throws -> [Retry] {
        try await call(.retry, try Form.line(UIDsForm(rejections)), as: RetriesForm.self).retries.map { $0.value() }
    }

    /// Deletes rejected entries.
    ///
    /// - Returns: how many there were.
    public func discard(_ rejections: [UID]) async throws -> Int {
        try await call(.discard, try Form.line(UIDsForm(rejections)), as: DiscardForm.self).discarded
    }

    /// Brings entries out of the quarantine whose records can be read again.
    ///
    /// - Returns: the UIDs of those that wait to be sent again.
    public func retryQuarantined(_ uids: [UID]) async throws -> [UID] {
        try await call(.retryQuarantined, try Form.line(UIDsForm(uids)), as: UIDsForm.self).value()
    }

    /// Puts entries on the blacklist.
    public func blacklist(_ entries: [BlacklistEntry]) async throws {
        _ = try await call(
            .blacklist, try Form.line(BlacklistEntriesForm(entries)), as: BlacklistAdditionForm.self)
    }

    /// Takes entries off the blacklist.
    ///
    /// - Returns: how many there were.
    public func unblacklist(_ keys: [BlacklistKey]) async throws -> Int {
        try await call(.unblacklist, try Form.line(BlacklistKeysForm(keys)), as: BlacklistRemovalForm.self).removed
    }

    /// Puts entries of another journal into this one, each as it was there, under a new UID.
    ///
    /// - Parameter note: becomes durable in the same commit.
    /// - Returns: the new UIDs, in order.
    public func restore(_ entries: [RestoredEntry], note: RestoreNote?) async throws -> [UID] {
        try await call(.restore, try Form.line(RestoreForm(entries, note)), as: UIDsForm.self).value()
    }
}
