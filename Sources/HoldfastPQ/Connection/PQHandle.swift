internal import CHoldfastPQ
internal import HoldfastPlatform

/// libpq's connection, and the calls of it that do not block. One thread at a time.
@safe final class PQHandle {
    private let handle: OpaquePointer
    let notices = Notices()
    private(set) var isClosed = false

    /// Begins to connect.
    ///
    /// - Returns: `nil` when there is no memory.
    init?(starting options: [String: String]) {
        let pairs = options.sorted { $0.key < $1.key }
        let keywords = unsafe pairs.map { unsafe strdup($0.key) }
        let values = unsafe pairs.map { unsafe strdup($0.value) }
        defer {
            for index in 0..<pairs.count {
                unsafe free(keywords[index])
                unsafe free(values[index])
            }
        }
        let first = unsafe keywords.map { unsafe UnsafePointer<CChar>($0) } + [nil]
        let second = unsafe values.map { unsafe UnsafePointer<CChar>($0) } + [nil]
        guard let handle = unsafe PQconnectStartParams(first, second, 0) else { return nil }
        unsafe self.handle = handle
        // With the SQLSTATE in the text: libpq has no other place for that of a connection that failed.
        _ = unsafe PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        unsafe notices.listen(to: handle)
    }

    deinit { finish() }

    /// Closes the socket, without waiting for anything. Nothing else may be called after it.
    func finish() {
        guard !isClosed else { return }
        isClosed = true
        unsafe PQfinish(handle)
    }

    var socket: Int32 { isClosed ? -1 : unsafe PQsocket(handle) }
    var isBad: Bool { unsafe isClosed || PQstatus(handle) == CONNECTION_BAD }
    var errorMessage: String { unsafe String(cString: PQerrorMessage(handle)) }
    var lacksPassword: Bool { unsafe PQconnectionNeedsPassword(handle) != 0 }
    var serverVersion: Int { Int(unsafe PQserverVersion(handle)) }
    var backend: Int32 { unsafe PQbackendPID(handle) }
    var database: String { unsafe String(cString: PQdb(handle)) }
    var user: String { unsafe String(cString: PQuser(handle)) }

    /// Whether a transaction is open, also one that has failed.
    var isInTransaction: Bool {
        let status = unsafe PQtransactionStatus(handle)
        return status == PQTRANS_INTRANS || status == PQTRANS_INERROR
    }

    var encryption: PQFacts.Encryption? {
        guard unsafe PQsslInUse(handle) != 0 else { return nil }
        func attribute(_ name: String) -> String {
            unsafe PQsslAttribute(handle, name).map { unsafe String(cString: $0) } ?? "unknown"
        }
        return PQFacts.Encryption(version: attribute("protocol"), cipher: attribute("cipher"))
    }

    func setting(_ name: String) -> String? {
        unsafe PQparameterStatus(handle, name).map { unsafe String(cString: $0) }
    }

    func pollConnecting() -> PostgresPollingStatusType { unsafe PQconnectPoll(handle) }

    func becomeNonBlocking() -> Bool { unsafe PQsetnonblocking(handle, 1) == 0 }
    func enterPipeline() -> Bool { unsafe PQenterPipelineMode(handle) == 1 }
    func exitPipeline() -> Bool { unsafe PQexitPipelineMode(handle) == 1 }
    func sync() -> Bool { unsafe PQpipelineSync(handle) == 1 }

    func prepare(_ name: String, _ sql: String, _ parameters: PQParameters) -> Bool {
        unsafe PQsendPrepare(handle, name, sql, Int32(parameters.count), parameters.types) == 1
    }

    func send(_ statement: PQStatement, _ parameters: PQParameters) -> Bool {
        let count = Int32(parameters.count)
        let lengths = parameters.places.map { Int32($0?.count ?? 0) }
        let formats = [Int32](repeating: 1, count: parameters.count)
        return unsafe parameters.bytes.withUnsafeBytes { bytes in
            let values = unsafe parameters.places.map { place in
                unsafe place.map { unsafe (bytes.baseAddress! + $0.lowerBound).assumingMemoryBound(to: CChar.self) }
            }
            if let name = statement.name {
                return unsafe PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1) == 1
            }
            return unsafe PQsendQueryParams(
                handle, statement.sql, count, parameters.types, values, lengths, formats, 1) == 1
        }
    }

    /// - Returns: whether all has gone to the kernel. Also true when it can't go any more.
    func flush() -> Bool { unsafe PQflush(handle) != 1 }

    /// Reads what is there, and finds out whether the other side has closed.
    func consume() { _ = unsafe PQconsumeInput(handle) }

    /// Whether asking for a result would wait.
    var isBusy: Bool { unsafe PQisBusy(handle) != 0 }

    /// - Precondition: not ``isBusy``.
    func result() -> PQResult? { unsafe PQgetResult(handle).map { unsafe PQResult(owning: $0) } }

    func notification() -> PQNotification? {
        guard let found = unsafe PQnotifies(handle) else { return nil }
        defer { unsafe PQfreemem(found) }
        return unsafe PQNotification(
            channel: String(cString: found.pointee.relname), payload: String(cString: found.pointee.extra),
            backend: found.pointee.be_pid)
    }
}
