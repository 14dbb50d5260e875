/// Decides when credential files are read again, and when a fault in them is reported.
///
/// Unusable files are tried again at each look: one may be half written, or a certificate's key may be still to come.
/// Only files that are the same at two looks and still unusable are reported, once.
///
/// A pure machine.
package struct CredentialWatch: Sendable {
    private struct Failure: Sendable {
        var stamps: [FileStamp]
        var isTold: Bool
    }

    /// The stamps of the files whose contents are in use.
    private var used: [FileStamp]
    private var failure: Failure?

    package init(used: [FileStamp]) { self.used = used }

    /// Whether the files are to be read.
    package func wantsLoad(_ stamps: [FileStamp]) -> Bool { failure != nil || stamps != used }

    /// They were read, and are good.
    ///
    /// - Returns: whether it had been told that they were not.
    package mutating func loaded(_ stamps: [FileStamp]) -> Bool {
        defer { failure = nil }
        used = stamps
        return failure?.isTold ?? false
    }

    /// They were read, and can't be used.
    ///
    /// - Parameter isAsked: somebody waits for the answer and is told anyway.
    /// - Returns: whether to tell.
    package mutating func failed(_ stamps: [FileStamp], isAsked: Bool) -> Bool {
        let isSettled = failure?.stamps == stamps
        let isKnown = isSettled && failure?.isTold == true
        failure = Failure(stamps: stamps, isTold: isKnown || isSettled || isAsked)
        return (isSettled || isAsked) && !isKnown
    }
}
