import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectSecure, type SecureContext, TLSSocket } from 'node:tls'
import type { Call } from './call.ts'
import { asCallFailure } from './failure.ts'
import type { Peer } from './peer.ts'

/** What happens on a connection. A later listener gets the end and the close, too. */
export interface Listener {
  data(bytes: Buffer): void
  /** The server sends no more. */
  ended(): void
  /** With the error that closed it, if any. */
  closed(error: Error | undefined): void
}

/** An open connection to a peer, with one listener at a time. */
export interface Connection {
  listen(listener: Listener): void
  write(bytes: Buffer): void
  /** Whether all written bytes have been passed to the system. */
  isFlushed(): boolean
  destroy(): void
}

export interface ConnectOptions {
  peer: Peer
  /** For TLS. */
  secure:
    | {
        context: SecureContext | undefined
        session: Buffer | undefined
        /** Called with each session that a later connection can resume. */
        onSession: (session: Buffer) => void
        /** Called when the session was resumed. */
        onResumed: () => void
      }
    | undefined
}

/** Opens a connection, following its phases in `call`. Rejects with `CallFailure`. */
export function connect({ peer, secure }: ConnectOptions, call: Call): Promise<Connection> {
  return new Promise((resolve, reject) => {
    call.enter('connect')
    const socket = secure ? openSecure(peer, secure) : openPlain(peer)
    const connection = wrap(socket)
    connection.listen({
      data() {},
      ended() {},
      closed: (error) => reject(asCallFailure(error, call.phase(), peer)),
    })
    call.onCut((failure) => {
      reject(failure)
      socket.destroy()
    })
    socket.once('connect', () => (secure ? call.enter('tls') : resolve(connection)))
    if (!secure) return
    socket.once('secureConnect', () => {
      // Not before the certificate has been verified: a resumed session isn't verified again.
      socket.on('session', secure.onSession)
      if (isResumed(socket)) secure.onResumed()
      resolve(connection)
    })
  })
}

const isResumed = (socket: Socket) => socket instanceof TLSSocket && socket.isSessionReused()

const openPlain = ({ address, port }: Peer): Socket =>
  connectPlain({ host: address, port, noDelay: true })

/** Verification is explicit, because an environment variable can disable the default. */
function openSecure(
  { name, address, port }: Peer,
  { context, session }: NonNullable<ConnectOptions['secure']>,
): TLSSocket {
  return connectSecure({
    host: address,
    port,
    servername: isIP(name) ? undefined : name,
    rejectUnauthorized: true,
    ALPNProtocols: ['http/1.1'],
    secureContext: context,
    session,
  })
}

function wrap(socket: Socket): Connection {
  let listener: Listener
  let error: Error | undefined
  let hasEnded = false
  let hasClosed = false
  socket.on('data', (bytes: Buffer) => listener.data(bytes))
  socket.on('end', () => {
    hasEnded = true
    listener.ended()
  })
  socket.on('error', (cause) => {
    error = cause
  })
  socket.on('close', () => {
    hasClosed = true
    listener.closed(error)
  })
  return {
    listen: (next) => {
      listener = next
      if (hasClosed) next.closed(error)
      else if (hasEnded) next.ended()
    },
    write: (bytes) => void socket.write(bytes),
    isFlushed: () => socket.writableLength === 0,
    destroy: () => void socket.destroy(),
  }
}
