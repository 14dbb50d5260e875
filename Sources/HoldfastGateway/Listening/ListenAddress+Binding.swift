internal import HoldfastPlatform
internal import HoldfastTransport
internal import NIOCore

/// Whether an address can be listened on, found out without listening.
extension ListenAddress {
    /// Why a socket can't be bound to it, a number of `errno`; nil where one was, which is closed again.
    package var bindError: Int32? { AddressProbe.bindError(host: host, port: port) }

    /// Fails where a listener would: for who is about to take what a process that can't listen has no use for.
    ///
    /// - Throws: ``GatewayError`` with kind ``GatewayError/Kind/cannotListen``.
    package func requireBindable() throws(GatewayError) {
        if let code = bindError { throw .cannotListen(on: self, IOError(errnoCode: code, reason: "bind")) }
    }
}

extension GatewayError {
    static func cannotListen(on address: ListenAddress, _ error: any Error) -> GatewayError {
        GatewayError(.cannotListen, "can't listen on \(address): \(Dialer.cause(error))")
    }
}
