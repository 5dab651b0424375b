import Holdfast
import HoldfastNIO
import NIOCore

// The decision about a server that asks for the client's certificate, within the handshake of a connection.
extension ConnectionGate {
    /// Succeeds if a server may get the client's certificate. If not, the connection has ended with the reason, and
    /// nothing more was sent.
    ///
    /// Called by TLS on the connection's event loop. For a trusted server, the observers are notified when the
    /// handshake is complete, as for any other.
    func acceptServer(on channel: any Channel) -> EventLoopFuture<Void> {
        let barrier = SendBarrier()
        do {
            try channel.pipeline.syncOperations.addHandler(barrier, position: .first)
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        let bound = NIOLoopBound(barrier, eventLoop: channel.eventLoop)
        // On the next turn of the event loop, because BoringSSL is on this call stack.
        return channel.eventLoop.submit { try self.leaf(of: channel) ?? [] }.flatMap { leaf in
            self.acceptServer(with: leaf, on: channel.eventLoop)
        }.flatMap {
            channel.pipeline.syncOperations.removeHandler(bound.value)
        }.flatMapErrorThrowing { error in
            // Report the error first. Otherwise the end of the connection would be the reason.
            channel.pipeline.fireErrorCaught(error)
            channel.closeBelowTLS()
            throw error
        }
    }

    private func acceptServer(with leaf: [UInt8], on loop: any EventLoop) -> EventLoopFuture<Void> {
        guard let collector else { return loop.makeFailedFuture(ChannelError.ioOnClosedChannel) }
        let look = evaluator.look(at: origin.host)
        guard !isKnownTrusted(leaf, under: look) else { return loop.makeSucceededVoidFuture() }
        return collector.chain(with: leaf, on: loop).flatMapThrowing { chain in
            let look = self.evaluator.look(at: self.origin.host)
            let decision = self.evaluator.unprovedDecision(about: chain, under: look)
            guard let failure = decision.failure else {
                _ = self.evidence.remember(decision, about: chain, anchors: look.anchors)
                return
            }
            collector.forgetEarly()
            throw failure
        }
    }

    /// Whether the leaf alone or an older chain is enough to trust a server.
    private func isKnownTrusted(_ leaf: [UInt8], under look: TrustEvaluator.Look) -> Bool {
        if let wanted = look.policy?.evidence, wanted <= .leaf,
            evaluator.wouldTrust(PresentedChain([leaf]), under: look)
        {
            return true
        }
        let known = evidence.evidence(about: leaf, anchors: look.anchors, at: evaluator.clock.now)
        return known.map { evaluator.wouldTrust($0.chain, under: look) } ?? false
    }
}
