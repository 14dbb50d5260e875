extension SendResult {
    /// Whether an answer that is not the service's may have come from behind the service.
    package var isForeignSuccess: Bool { verdict == .foreign && status.map { (200..<300).contains($0) } ?? true }
}

extension SendResult.Verdict {
    /// The verdict for a broadcast, which has no token to blame: a verdict on its token rejects the broadcast alone.
    /// Credentials, topic and service are judged as for devices.
    var ofBroadcast: SendResult.Verdict {
        switch self {
        case .rejected(.token), .rejected(.suspectToken): .rejected(.notification)
        case .confirmed, .rejected, .deferred, .neverProcessed, .laneStopped, .foreign, .unknown: self
        }
    }
}
