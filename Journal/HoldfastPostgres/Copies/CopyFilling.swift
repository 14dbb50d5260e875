internal import HoldfastLMDB
internal import HoldfastPQ

/// Reads a checkpoint and commits into an environment.
struct CopyFilling {
    private let calls: LogCalls
    private let limits: CopyBuilder.Limits
    private let environment: Environment
    private let connection: PQConnection

    init(_ calls: LogCalls, _ limits: CopyBuilder.Limits, _ environment: Environment, _ connection: PQConnection) {
        self.calls = calls
        self.limits = limits
        self.environment = environment
        self.connection = connection
    }

    /// Into an empty environment, which is unfinished until all of it is there.
    func loadCheckpoint(_ log: LogState) throws(CopyError) -> WorkingCopy.Place {
        // Says of the empty one, too, that it is a copy.
        try apply([], .unfinished)
        guard log.checkpoint > 0 else { return .unfinished }
        var reader = LogReading(after: 0) { fault in
            switch fault {
            case .missing(let chunk): .missingChunk(chunk, checkpoint: log.checkpoint)
            case .damaged(let chunk, let damage): .damagedChunk(chunk, checkpoint: log.checkpoint, damage)
            }
        }
        try reader.run { place throws(PQError) in
            try calls.readCheckpoint(
                of: log.checkpoint, after: place, bytes: limits.pageByteCount, connection, by: .now + limits.answer)
        } take: { effects throws(CopyError) in
            try apply([effects], .unfinished)
        }
        guard reader.last == UInt64(log.checkpointChunks) else {
            throw .missingChunk(reader.last + 1, checkpoint: log.checkpoint)
        }
        let place = WorkingCopy.Place(number: log.checkpoint, sum: log.checkpointSum)
        try apply([], place)
        return place
    }

    /// Applies the commits behind a place, several of them at once.
    func follow(_ log: LogState, after place: WorkingCopy.Place) throws(CopyError) -> WorkingCopy.Place {
        var place = place
        var batch: [[UInt8]] = []
        var byteCount = 0
        var reader = LogReading(after: place.number) { fault in
            switch fault {
            case .missing(let commit): .missing(commit: commit)
            case .damaged(let commit, let damage): .damaged(commit: commit, damage)
            }
        }
        func flush() throws(CopyError) {
            guard let last = batch.last else { return }
            place = WorkingCopy.Place(number: place.number + UInt64(batch.count), effects: last.span)
            try apply(batch, place)
            (batch, byteCount) = ([], 0)
        }
        try reader.run { place throws(PQError) in
            try calls.readLog(after: place, bytes: limits.pageByteCount, connection, by: .now + limits.answer)
        } take: { effects throws(CopyError) in
            batch.append(effects)
            byteCount += effects.count
            if byteCount >= limits.pageByteCount { try flush() }
        }
        try flush()
        guard place.number >= log.last else { throw .missing(commit: place.number + 1) }
        return place
    }

    private func apply(_ effects: [[UInt8]], _ place: WorkingCopy.Place) throws(CopyError) {
        do {
            try WorkingCopy.apply(effects, place, to: environment)
        } catch let error as LMDBError {
            throw .copy(error)
        } catch let damage as Effects.Damage {
            // They were read from end to end before.
            throw .damaged(commit: place.number, damage)
        } catch {
            throw .copy(LMDBError(.invalid, "apply", path: environment.path))
        }
    }
}

/// Reads rows page by page, and puts them together.
private struct LogReading {
    private var assembler: LogAssembler
    private let described: (LogAssembler.Fault) -> CopyError

    /// - Parameter described: the error for what is wrong with the rows.
    init(after last: UInt64, described: @escaping (LogAssembler.Fault) -> CopyError) {
        assembler = LogAssembler(next: last + 1)
        self.described = described
    }

    /// The last number that was whole.
    var last: UInt64 { assembler.next - 1 }

    mutating func run(
        page: (_ place: (number: UInt64, part: Int)) throws(PQError) -> [LogRow],
        take: (_ effects: [UInt8]) throws(CopyError) -> Void
    ) throws(CopyError) {
        while true {
            let rows: [LogRow]
            do throws(PQError) { rows = try page(assembler.place) } catch { throw CopyError(error) }
            for row in rows {
                if let effects = try assembled(row) { try take(effects) }
            }
            if rows.isEmpty { break }
        }
        if let effects = try assembled(nil) { try take(effects) }
    }

    private mutating func assembled(_ row: LogRow?) throws(CopyError) -> [UInt8]? {
        do throws(LogAssembler.Fault) {
            guard let row else { return try assembler.end() }
            return try assembler.take(row)
        } catch {
            throw described(error)
        }
    }
}
