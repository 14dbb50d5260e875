/// How long, and at what price, a journal in use may be kept from using freed pages again.
///
/// While its pages are read, those that its owner gives back stay as they are, and its file grows by what is written. When
/// one of these is reached, the reading ends with ``Holdfast/JournalError/Code/limitReached``, and nothing is kept.
public struct InspectionLimits: Sendable {
    /// For each of the two files. Default: five minutes.
    public var time: Duration = .seconds(300)
    /// Bytes by which a file may grow meanwhile. Default: 1 GiB.
    public var growth = 1 << 30

    public init() {}
}
