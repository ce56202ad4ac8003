/** The control socket of a Litestream, whose uploads take a round trip to a bucket: socket, milliseconds. */
const [, , socket = '', ms = '0'] = process.argv

Bun.serve({
  unix: socket,
  async fetch() {
    await Bun.sleep(Number(ms))
    return Response.json({ status: 'synced' })
  },
})

console.log(JSON.stringify({ url: socket }))
