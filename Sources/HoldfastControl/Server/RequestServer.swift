internal import Holdfast

/// Answers requests by asking the desk.
struct RequestServer: Sendable {
    let desk: any OperatorDesk
    let limits: MessageLimits

    func answer(_ message: ControlMessage) async -> ControlMessage {
        do {
            let answer = try await perform(Request(message))
            try answer.check(limits)
            return answer
        } catch {
            return ControlMessage(failure: error)
        }
    }

    private func perform(_ request: Request) async throws -> ControlMessage {
        switch request {
        case .status:
            return try ControlMessage(
                head: AnswerHead.done, items: WireStatusItem.items(try await desk.status()))
        case .insights(let uids):
            return try ControlMessage(
                head: AnswerHead.done, items: try await desk.insights(uids).map(WireInsight.init))
        case .pause(let lane, let reason):
            try await desk.pause(lane, reason: reason)
            return try ControlMessage(head: AnswerHead.done)
        case .resume(let lane):
            try await desk.resume(lane)
            return try ControlMessage(head: AnswerHead.done)
        case .reloadCredentials:
            return try ControlMessage(
                head: AnswerHead.done, items: try await desk.reloadCredentials().map(WireReload.init))
        case .submit(let notifications):
            return try ControlMessage(
                head: AnswerHead.done, items: try await desk.submit(notifications).map(WireReceipt.init))
        case .withdraw(let uids):
            let withdrawal = try await desk.withdraw(uids)
            return try ControlMessage(head: AnswerHead(withdrawal: WireWithdrawal(withdrawal)))
        case .retry(let uids):
            return try ControlMessage(head: AnswerHead.done, items: try await desk.retry(uids).map(WireRetry.init))
        case .discard(let uids):
            return try ControlMessage(head: AnswerHead(count: try await desk.discard(uids)))
        case .retryQuarantined(let uids):
            let restored = try await desk.retryQuarantined(uids)
            return try ControlMessage(head: AnswerHead.done, items: restored.map(WireUID.init))
        case .blacklist(let entries):
            try await desk.blacklist(entries)
            return try ControlMessage(head: AnswerHead.done)
        case .unblacklist(let keys):
            return try ControlMessage(head: AnswerHead(count: try await desk.unblacklist(keys)))
        case .restore(let entries, let note):
            let uids = try await desk.restore(entries, note: note)
            return try ControlMessage(head: AnswerHead.done, items: uids.map(WireUID.init))
        }
    }
}
