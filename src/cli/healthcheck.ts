import { get } from 'node:http'
import { localUrl } from '../http/urls.ts'
import { type Command, EXIT } from './command.ts'

const TIMEOUT_MS = 5000

export const healthcheck: Command = {
  name: 'healthcheck',
  summary: 'Check whether the server is ready, or waits as a standby. For containers and monitors.',
  run: async ({ config }) => {
    const url = `${localUrl(config.server)}/readyz`
    const { status, body } = (await answerOf(url)) ?? { status: null, body: '' }
    const ready = status === 200
    const standby = status === 503 && body === JSON.stringify({ status: 'standby' })
    const found = ready ? 'ready' : standby ? 'standby' : 'not ready'
    return {
      json: { url, ready, standby, status },
      text: `${found}: ${url}${found === 'not ready' ? ` ${status ?? 'does not respond'}` : ''}`,
      exit: ready || standby ? EXIT.ok : EXIT.failure,
    }
  },
}

/**
 * The answer to a GET, with the first bytes of its body; undefined without one. Uses node:http,
 * because fetch would use a proxy.
 */
const answerOf = (url: string): Promise<{ status: number; body: string } | undefined> =>
  new Promise((resolve) => {
    const request = get(url, { timeout: TIMEOUT_MS, agent: false }, (response) => {
      const { statusCode: status = 0 } = response
      response.once('end', () => resolve({ status, body: '' }))
      response.once('data', (body) => {
        resolve({ status, body: `${body}` })
        request.destroy()
      })
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve(undefined))
    request.on('close', () => resolve(undefined))
  })
