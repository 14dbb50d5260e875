extension LaneStateMachine {
    /// The kind of the stop; nil while the lane has not stopped by itself.
    var stopKind: HealthCondition.Kind? {
        guard isStopped else { return nil }
        return switch remedy {
        case .connection?: .serviceAway
        case .credentials?: .credentialsRefused
        case .service?: .wrongServer
        case nil: .laneStopped
        }
    }
}
