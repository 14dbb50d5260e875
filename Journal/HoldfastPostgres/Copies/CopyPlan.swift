package import HoldfastLMDB

/// Decides how a copy is brought to the end of its log.
package enum CopyPlan: Hashable, Sendable {
    case upToDate
    case goOn
    /// From the last complete checkpoint, in an empty environment.
    case anew

    /// - Parameters:
    ///   - copy: `nil` where there is none.
    ///   - log: with the checksum of the copy's last commit.
    /// - Throws: `rolledBack`. It can't be told of a copy that is older than the log's beginning.
    package static func decide(copy: WorkingCopy.Place?, log: LogState) throws(CopyError) -> CopyPlan {
        guard let copy else { return log.last == 0 ? .upToDate : .anew }
        guard copy.number > 0 else { return .anew }
        guard copy.number <= log.last else { throw .rolledBack(copy: copy.number, log: log.last) }
        guard copy.number >= log.checkpoint else { return .anew }
        let sum = copy.number == log.checkpoint ? log.checkpointSum : log.sum
        guard let sum else { throw .missing(commit: copy.number) }
        guard sum == copy.sum else { throw .rolledBack(copy: copy.number, log: log.last) }
        return copy.number == log.last ? .upToDate : .goOn
    }
}
