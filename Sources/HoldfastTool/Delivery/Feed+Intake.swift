internal import Holdfast

extension Feed {
    func run(_ intake: Intake) async {
        switch intake {
        case .nothing: break
        case .file(let task): await run(task)
        case .notifications(let notifications): await run(notifications)
        }
    }

    /// Takes notifications that were given by flags, and leaves their receipts in the report. Ends as with a file; when the
    /// engine shuts down before they are taken, the input has not come to its end.
    private func run(_ notifications: [PushNotification]) async {
        let batch = NotificationInput.Batch(notifications: notifications, isLast: true)
        do throws(ToolError) {
            guard let receipts = try await take(batch, note: nil) else { return }
            report.withLock { report in
                report.fraction = 1
                report.finished = !receipts.contains(where: \.isForShutdown)
                report.receipts = receipts
                report.accepted = receipts.count { if case .accepted = $0 { true } else { false } }
                report.repeated = receipts.count { if case .repeated = $0 { true } else { false } }
                for case .refused(let refusal) in receipts where refusal.reason != .shuttingDown {
                    report.refused[refusal.reason.rawValue, default: 0] += 1
                }
            }
            for receipt in receipts { try Self.check(receipt) }
        } catch {
            report.withLock { $0.error = error }
        }
    }

    /// - Throws: when the journal failed.
    private static func check(_ receipt: Receipt) throws(ToolError) {
        switch receipt {
        case .refused(let refusal) where refusal.reason == .journalFailed:
            throw ToolError(.inputOutput, "nothing was taken: \(refusal.detail)")
        case .undetermined(let error):
            throw ToolError(
                .inputOutput, "nobody can say whether it was taken (`holdfast journal list` does): \(error.message)")
        case .accepted, .repeated, .refused: break
        }
    }
}

extension Receipt {
    fileprivate var isForShutdown: Bool {
        if case .refused(let refusal) = self { refusal.reason == .shuttingDown } else { false }
    }
}
