internal import NIOCore

/// Tells an HTTP answer from the greeting of the protocol's first version, which was not HTTP and had the owner speak first.
final class FirstWord: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var word: [UInt8] = []
    private static let greeting = Array(#"{"holdfast":"control""#.utf8)
    private static let http = Array("HTTP/1.".utf8)

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        word += buffer.readableBytesView.prefix(Self.greeting.count - word.count)
        if Self.http.starts(with: word.prefix(Self.http.count)) {
            context.fireChannelRead(data)
            if word.count >= Self.http.count { context.pipeline.syncOperations.removeHandler(self, promise: nil) }
        } else if !Self.greeting.starts(with: word) {
            context.fireErrorCaught(ControlError.malformed("what listens on the journal's socket speaks no HTTP"))
        } else if word.count == Self.greeting.count {
            context.fireErrorCaught(
                ControlError(
                    .otherVersion,
                    """
                    the process that uses the journal is of a Holdfast before HTTP on the control socket (version 1), and \
                    this program speaks version \(OwnerForm.currentVersion): use the tool of its Holdfast, or restart it with \
                    this one
                    """))
        }
    }
}
