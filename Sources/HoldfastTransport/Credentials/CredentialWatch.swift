/// Decides when files of credentials are read again, and when it is said that they can't be used.
///
/// What can't be used is tried again at each look: it may be half written, or a certificate whose key is still to come. Only
/// what is the same at two looks and still can't be used is told, once.
///
/// A pure machine.
package struct CredentialWatch: Sendable {
    private struct Failure: Sendable {
        var stamps: [FileStamp]
        var isTold: Bool
    }

    /// Of the files whose contents are in use.
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
