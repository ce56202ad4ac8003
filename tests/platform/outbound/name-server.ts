import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'

const A = 1
const AAAA = 28
const SERVFAIL = 2
const NXDOMAIN = 3

const FAILS = 'fails'

/** The addresses of each name, where `fails` stands for those of IPv6, or `silent` for no answer. */
export type Records = Record<string, string[] | 'silent'>

/** A name server on loopback. A name that it has no record of does not exist. */
export async function startNameServer(records: Records) {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const { name, type, end } = questionIn(query)
    asked.push(name)
    const record = records[name]
    if (record === 'silent') return
    const wanted = record?.filter((address) => isIPv4(address) === (type === A)) ?? []
    const given = wanted.filter((address) => address !== FAILS)
    const code = given.length < wanted.length ? SERVFAIL : record ? 0 : NXDOMAIN
    const head = Buffer.alloc(12)
    query.copy(head, 0, 0, 2)
    head.writeUInt16BE(0x8180 | code, 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(given.length, 6)
    const answer = [head, query.subarray(12, end), ...given.map(recordOf)]
    socket.send(Buffer.concat(answer), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    [Symbol.dispose]: () => void socket.close(),
  }
}

function questionIn(query: Buffer) {
  const labels: string[] = []
  let at = 12
  for (let size = query.readUInt8(at); size > 0; size = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + size))
    at += 1 + size
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 }
}

/** Of the name in the question, for a minute. IPv6 addresses are written in full. */
function recordOf(address: string): Buffer {
  const bytes = isIPv4(address)
    ? Buffer.from(address.split('.').map(Number))
    : Buffer.from(address.replaceAll(':', ''), 'hex')
  const head = Buffer.from([0xc0, 12, 0, bytes.length === 4 ? A : AAAA, 0, 1, 0, 0, 0, 60, 0])
  return Buffer.concat([head, Buffer.from([bytes.length]), bytes])
}
