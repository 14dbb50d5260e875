extension HTTP2ClientSession {
    /// The number that the next request's stream will have. Streams below it were started before this moment.
    package var nextRequestStreamID: UInt32 { nextStreamID }

    /// The requests without an answer that were started before a moment, oldest first. Looks at every slot: for timers.
    ///
    /// - Parameter streamID: ``nextRequestStreamID`` at that moment.
    package func openRequests(before streamID: UInt32) -> [(streamID: UInt32, tag: UInt64)] {
        streams.openSlots().compactMap { slot in
            let stream = streams[slot]
            return stream.id < streamID ? (stream.id, stream.tag) : nil
        }
    }

    /// Whether ``startRequest(tag:headerBlock:body:bodyRange:)`` would start a request now.
    ///
    /// Mutating, so that it is asked in place, without a copy of the session for each request.
    package mutating func takesRequest() -> Bool {
        availableStreams > 0 && !connection.isOutputFull && connection.held.byteCount < connection.limits.maxHeldBack
    }
}
