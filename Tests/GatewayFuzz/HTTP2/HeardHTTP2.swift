import HostileHTTP2

/// What a client of HTTP/2 was told so far.
struct HeardHTTP2 {
    /// The answers: by stream, the first byte of each HEADERS that came.
    private(set) var heads: [UInt32: [UInt8]] = [:]
    /// The code of each GOAWAY.
    private(set) var goAways: [UInt32] = []

    init(_ bytes: [UInt8]) {
        var cutter = FrameCutter(hasPreface: false)
        for frame in cutter.frames(bytes) {
            switch frame.kind {
            case WireFrame.Kind.headers: heads[frame.stream, default: []].append(frame.payload.first ?? 0)
            case WireFrame.Kind.goAway: goAways.append(frame.number(at: 4) ?? 0)
            default: break
            }
        }
    }
}
