internal import Holdfast

/// Answers requests by asking the desk.
struct RequestServer: Sendable {
    let desk: any OperatorDesk
    /// For requests that wait for outcomes.
    let waits: WaitPlaces

    /// - Parameters:
    ///   - query: behind the `?` of the path.
    ///   - body: of the request, a form.
    /// - Returns: the form that answers it.
    /// - Throws: what the desk throws, and ``ControlError`` with code `malformed` or `tooLarge`.
    func answer(_ resource: Resource, _ query: Substring = "", _ body: [UInt8]) async throws -> [UInt8] {
        switch resource {
        case .findOutcomes: return try await OutcomeAnswer(desk: desk, places: waits).found(query)
        case .listOutcomes: return try await OutcomeAnswer(desk: desk, places: waits).listed(query)
        case .outcomeReaders: return try Form.line(HistoryForm(try await desk.outcomeLog()))
        case .openReader, .moveReader, .forgetReader:
            return try await change(resource, try read(ReaderOrderForm.self, body))
        case .owner: return try Form.line(OwnerForm.current)
        case .status: return try Form.line(StatusForm(try await desk.status()))
        case .insights:
            let insights = try await desk.insights(try uids(body))
            return try Form.line(InsightsForm(insights: insights.map(InsightForm.init)))
        case .pause, .resume: return try await change(resource, try read(LaneOrderForm.self, body))
        case .connect:
            let order = try read(RouteOrderForm.self, body)
            try await desk.connect(route: order.route)
            return try Form.line(order)
        case .pauseTag, .resumeTag: return try await change(resource, try read(TagOrderForm.self, body))
        case .reloadCredentials:
            return try Form.line(ReloadsForm(routes: try await desk.reloadCredentials().map(ReloadForm.init)))
        case .submit:
            let receipts = try await desk.submit(try read(NotificationsForm.self, body).value())
            return try Form.line(ReceiptsForm(receipts: receipts.map(ReceiptForm.init)))
        case .submitLines:
            let form = try read(LinesForm.self, body)
            let receipts = try await desk.submit(
                try form.value(), as: form.producer, note: form.note?.noteValue())
            return try Form.line(ReceiptsForm(receipts: receipts.map(ReceiptForm.init)))
        case .restore:
            let form = try read(RestoreForm.self, body)
            return try Form.line(UIDsForm(try await desk.restore(try form.values(), note: form.noteValue())))
        case .withdraw, .retry, .discard, .retryQuarantined: return try await settle(resource, try uids(body))
        case .blacklist:
            let entries = try read(BlacklistEntriesForm.self, body).value()
            try await desk.blacklist(entries)
            return try Form.line(BlacklistAdditionForm(added: entries.count))
        case .unblacklist:
            let keys = try read(BlacklistKeysForm.self, body).value()
            return try Form.line(
                BlacklistRemovalForm(matched: keys.count, removed: try await desk.unblacklist(keys)))
        }
    }

    private func change(_ resource: Resource, _ order: LaneOrderForm) async throws -> [UInt8] {
        let lane = try LaneKey.read(order.lane)
        guard resource == .pause else {
            try await desk.resume(lane)
            return try Form.line(LaneChangeForm(lane, "running"))
        }
        let reason = order.reason ?? ""
        try await desk.pause(lane, reason: reason)
        return try Form.line(LaneChangeForm(lane, "paused", reason: reason))
    }

    private func change(_ resource: Resource, _ order: TagOrderForm) async throws -> [UInt8] {
        if resource == .pauseTag {
            guard let tag = order.tag?.bytes else {
                throw ControlError.malformed("the request's body names no tag to pause")
            }
            let reason = order.reason ?? ""
            try await desk.pause(tag: tag, reason: reason)
            return try Form.line(TagChangeForm(tag, "paused", reason: reason))
        }
        if let tag = order.tag?.bytes { try await desk.resume(tag: tag) } else { try await desk.resumeAllTags() }
        return try Form.line(TagChangeForm(order.tag?.bytes, "running"))
    }

    /// The orders about readers of outcomes.
    private func change(_ resource: Resource, _ order: ReaderOrderForm) async throws -> [UInt8] {
        let change: OutcomeCursor?
        switch resource {
        case .openReader: change = try await desk.openOutcomeReader(order.reader)
        case .forgetReader:
            try await desk.forgetOutcomeReader(order.reader)
            change = nil
        default:
            guard let cursor = order.cursor else {
                throw ControlError.malformed("the request's body has no cursor to move to")
            }
            try await desk.moveOutcomeReader(order.reader, to: OutcomeCursor(cursor))
            change = OutcomeCursor(cursor)
        }
        return try Form.line(ReaderChangeForm(order.reader, change))
    }

    /// The orders about entries by their UIDs.
    private func settle(_ resource: Resource, _ uids: [UID]) async throws -> [UInt8] {
        switch resource {
        case .retry: return try Form.line(RetriesForm(retries: try await desk.retry(uids).map(RetryForm.init)))
        case .discard:
            return try Form.line(DiscardForm(matched: uids.count, discarded: try await desk.discard(uids)))
        case .retryQuarantined: return try Form.line(UIDsForm(try await desk.retryQuarantined(uids)))
        default: return try Form.line(WithdrawalForm(try await desk.withdraw(uids), matched: uids.count))
        }
    }

    private func uids(_ body: [UInt8]) throws -> [UID] { try read(UIDsForm.self, body).value() }

    private func read<Value: Decodable>(_ type: Value.Type, _ body: [UInt8]) throws(ControlError) -> Value {
        do throws(ControlError) {
            return try Form.read(type, body, "the request's body")
        } catch {
            throw ControlError(error.code, "\(error.message); Docs/Reference/ControlProtocol.md has its form")
        }
    }
}
