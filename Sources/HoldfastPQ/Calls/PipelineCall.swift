internal import CHoldfastPQ

/// One call under way: sends its statements with one Sync behind them, and takes the answers as they come.
struct PipelineCall {
    let handle: PQHandle
    let patience: Patience
    private(set) var doubt: CommitDoubt
    let steps: [PQStep]

    /// What is on its way, in order.
    private var requests: [Request] = []
    private var results: [PQResult] = []
    private var failure: (report: ServerReport, step: Int?)?
    /// Names and texts that the session knows now, however the call ended.
    private(set) var newlyPrepared: [(String, String)] = []

    private enum Request {
        case preparation(name: String, sql: String, step: Int)
        case step(Int)
    }

    init(handle: PQHandle, patience: Patience, doubt: CommitDoubt, steps: [PQStep]) {
        self.handle = handle
        self.patience = patience
        self.doubt = doubt
        self.steps = steps
    }

    /// Puts all into libpq's buffer, of which libpq sends what the kernel takes.
    mutating func send(prepared: [String: String]) throws(PQError) {
        var known = prepared
        guard handle.enterPipeline() else { throw ended(handle.errorMessage) }
        for (index, step) in steps.enumerated() {
            if let name = step.statement.name, known[name] == nil {
                known[name] = step.statement.sql
                requests.append(.preparation(name: name, sql: step.statement.sql, step: index))
                doubt.sent(whole: false)
                guard handle.prepare(name, step.statement.sql, step.parameters) else {
                    throw ended(handle.errorMessage)
                }
            }
            requests.append(.step(index))
            doubt.sent(whole: false)
            guard handle.send(step.statement, step.parameters) else { throw ended(handle.errorMessage) }
        }
        guard handle.sync() else { throw ended(handle.errorMessage) }
    }

    /// Finds what can be known to be wrong before anything is sent.
    static func check(_ steps: [PQStep], prepared: [String: String]) throws(PQError) {
        var known = prepared
        for (index, step) in steps.enumerated() {
            if step.statement.sql.utf8.contains(0) {
                throw PQError(.unexpected, "the statement has a NUL", step: index)
            }
            if step.parameters.bytes.count > 1 << 30 || step.parameters.count > Int(UInt16.max) {
                throw PQError(.unexpected, "the parameters are more than 1 GiB, or than 65,535", step: index)
            }
            guard let name = step.statement.name else { continue }
            if known.updateValue(step.statement.sql, forKey: name) ?? step.statement.sql != step.statement.sql {
                throw PQError(.unexpected, "two statements are prepared as \(name)", step: index)
            }
        }
    }

    /// Takes the answers up to that of the Sync.
    mutating func receive() throws(PQError) {
        var position = 0
        var hasResult = false
        while true {
            guard let result = try next() else {
                // The end of one request's answer. Two in a row mean that libpq and we do not speak of the same.
                guard hasResult else { throw ended("libpq has no more answers") }
                hasResult = false
                position += 1
                continue
            }
            hasResult = true
            let status = result.status
            if status == PGRES_PIPELINE_SYNC {
                doubt.sync()
                break
            }
            switch status {
            case PGRES_FATAL_ERROR: try take(error: result, position)
            case PGRES_PIPELINE_ABORTED: break
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: take(result, position)
            case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH: throw copying(position)
            default: throw ended(result.errorMessage)
            }
        }
        // The call has its answer. The next one would not.
        if !handle.exitPipeline() { handle.finish() }
    }

    private mutating func take(_ result: PQResult, _ position: Int) {
        guard position < requests.count else { return }
        switch requests[position] {
        case .preparation(let name, let sql, _): newlyPrepared.append((name, sql))
        case .step:
            results.append(result)
            doubt.answer()
        }
    }

    /// - Throws: after an error behind which nothing comes.
    private mutating func take(error result: PQResult, _ position: Int) throws(PQError) {
        guard let report = result.report else { throw ended(result.errorMessage) }
        guard doubt.fail(endingSession: report.endsSession) else { throw ended(report.message, report) }
        if failure == nil { failure = (report, step(at: position)) }
        if report.endsSession { throw Self.error(report, step(at: position)) }
    }

    private func copying(_ position: Int) -> PQError {
        let words = "a statement that copies is not for a call"
        return doubt.isInDoubt ? ended(words) : PQError(.unexpected, words, step: step(at: position))
    }

    private func step(at position: Int) -> Int? {
        guard position < requests.count else { return nil }
        switch requests[position] {
        case .preparation(_, _, let step), .step(let step): return step
        }
    }

    /// The next result, or the end of a request's results.
    private mutating func next() throws(PQError) -> PQResult? {
        while true {
            let isFlushed = handle.flush()
            if isFlushed { doubt.sent(whole: true) }
            if !handle.isBusy { return handle.result() }
            // What was read before the loss has been used up.
            guard !handle.isBad else { throw ended(handle.errorMessage) }
            switch patience.wait(handle.socket, reading: true, writing: !isFlushed) {
            case .ready: handle.consume()
            case .deadline: throw ended("no answer in time", cause: .deadline)
            case .interruption: throw ended("another thread ended the call", cause: .interruption)
            }
        }
    }

    /// The outcome of a call that the server has answered whole.
    func verdict() throws(PQError) -> PQAnswer {
        let notices = handle.notices.drain()
        if let failure { throw Self.error(failure.report, failure.step) }
        if let notice = notices.first(where: \.saysStandbyNotAwaited) {
            throw PQError(
                .inDoubt, "the server committed without waiting for its standby: \(notice.message)",
                cause: .standbyNotAwaited, server: notice)
        }
        if steps.last?.statement.effect == .commits, results.last?.command == "ROLLBACK" {
            let report = ServerReport(
                severity: "ERROR", sqlState: "25P02", message: "the transaction had failed, and was rolled back")
            throw PQError(.refused, report.message, server: report, step: steps.count - 1)
        }
        return PQAnswer(results: results, notices: notices)
    }

    private static func error(_ report: ServerReport, _ step: Int?) -> PQError {
        PQError(
            report.isAboutServer || report.endsSession ? .unreachable : .refused,
            "\(report.message) (\(report.sqlState))",
            cause: report.endsSession ? .connectionLost : nil, server: report, step: step)
    }

    /// The error of a call that ended without its answer.
    private func ended(
        _ words: String, _ report: ServerReport? = nil, cause: PQError.Cause = .connectionLost
    ) -> PQError {
        let words = ConnectionFailure(words).message
        let notices = handle.notices.drain()
        if doubt.isInDoubt {
            let report = notices.first(where: \.saysStandbyNotAwaited) ?? report
            return PQError(
                .inDoubt, "it is not known whether PostgreSQL committed: \(words)", cause: cause, server: report)
        }
        // An error that was reported before the loss is the better reason.
        if let failure { return Self.error(failure.report, failure.step) }
        if cause == .interruption { return .interrupted }
        return PQError(.unreachable, "PostgreSQL: \(words)", cause: cause, server: report)
    }
}
