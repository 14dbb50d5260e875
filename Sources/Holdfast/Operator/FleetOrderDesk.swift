/// A desk at which a fleet's orders are carried out beside those of the journal's own operators.
package protocol FleetOrderDesk: OperatorDesk {
    /// Pauses a tag as ``OperatorDesk/pause(tag:reason:)`` does, however many are paused: a pause of the fleet must hold.
    func pauseForFleet(tag: [UInt8], reason: String) async throws
}
