/// For modules of this package that tell senders how their notifications ended.
extension PushEngine {
    /// Tells the outcomes of single notifications; `nil` while the engine keeps none.
    package var outcomeFeed: OutcomeFeed? { producer.configuration.logsOutcomes ? core.outcomeFeed : nil }
}
