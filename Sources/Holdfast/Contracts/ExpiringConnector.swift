/// A connector that shows the service a certificate of its own.
package protocol ExpiringConnector: Connector {
    /// The last valid second of the certificate in use; nil without one.
    var certificateEnd: WallTime? { get }
}
