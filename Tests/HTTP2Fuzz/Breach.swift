import HoldfastHTTP2

/// Something that must hold did not.
struct Breach: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

func demand(_ holds: Bool, _ otherwise: @autoclosure () -> String) throws(Breach) {
    if !holds { throw Breach(otherwise()) }
}

/// What many trials came to.
struct Tally: Encodable {
    /// Those that ended with a connection error of ours.
    var failed = 0
    /// Messages that came through all the same.
    var messages = 0
    var bytes = 0
    /// The most that one session held.
    var mostHeld = 0
    /// How often each code ended a connection.
    var codes: [String: Int] = [:]

    /// One session is over.
    ///
    /// - Parameter failure: why it ended the connection; nil where it did not.
    mutating func add(messages: Int, bytes: Int, mostHeld: Int, failure: HTTP2Error?) {
        self.messages += messages
        self.bytes += bytes
        self.mostHeld = max(self.mostHeld, mostHeld)
        guard let failure else { return }
        failed += 1
        codes["\(failure.code)", default: 0] += 1
    }
}
