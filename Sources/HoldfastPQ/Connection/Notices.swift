internal import CHoldfastPQ

/// Collects the notices of a connection.
///
/// libpq calls the receiver only inside of calls on the connection, so on the thread that uses it.
final class Notices {
    private var collected: [ServerReport] = []

    /// More than anybody reads, which a server in a loop may send.
    private static let limit = 1000

    /// - Precondition: this lives as long as the connection.
    @unsafe func listen(to connection: OpaquePointer) {
        let me = unsafe Unmanaged.passUnretained(self).toOpaque()
        _ = unsafe PQsetNoticeReceiver(
            connection,
            { context, result in
                guard let context = unsafe context, let report = unsafe PQResult.report(result) else { return }
                let me = unsafe Unmanaged<Notices>.fromOpaque(context).takeUnretainedValue()
                me.take(report)
            }, me)
    }

    private func take(_ report: ServerReport) {
        // Never at the cost of the one that matters.
        guard collected.count < Self.limit || report.saysStandbyNotAwaited else { return }
        collected.append(report)
    }

    /// Whether the server has said that it ends the session.
    var endSession: Bool { collected.contains(where: \.endsSession) }

    func drain() -> [ServerReport] {
        defer { collected = [] }
        return collected
    }
}
