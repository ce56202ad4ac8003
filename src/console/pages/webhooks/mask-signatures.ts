import { MASK } from '../../../delivery/custom-headers.ts'
import type { Attempt, DeliveryDetail } from '../../../http/delivery-log/model.ts'

/** Masks signatures, valid for minutes, also in responses, for operators who can't retry. */
export const maskSignatures = (delivery: DeliveryDetail): DeliveryDetail => ({
  ...delivery,
  attempt_log: delivery.attempt_log.map(maskAttempt),
})

function maskAttempt({ request, response, ...attempt }: Attempt): Attempt {
  if (!request) return { ...attempt, request, response }
  const headers = Object.entries(request.headers)
  const signed = headers.filter(([name]) => isSignature(name)).map(([, value]) => value)
  const digests = signed.flatMap((value) => value.match(DIGEST) ?? [])
  const hidden = (text: string): string =>
    digests.reduce((rest, digest) => rest.replaceAll(digest, MASK), text)
  return {
    ...attempt,
    request: {
      ...request,
      headers: Object.fromEntries(
        headers.map(([name, value]) => [name, isSignature(name) ? MASK : value]),
      ),
    },
    response: response && {
      ...response,
      headers: response.headers.map((pair) => pair.map(hidden)),
      body: hidden(response.body),
    },
  }
}

const isSignature = (name: string): boolean => /-signature$/i.test(name)

/** Digest within a signature header, in base64 or hexadecimal. */
const DIGEST = /[\w+/]{32,}=*/g
