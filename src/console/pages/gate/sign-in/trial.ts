import type { Visit } from '../asked.ts'
import type { GateParts } from '../parts.ts'

/** Signs in as the people of a tenant do: leads to the page that they see. */
export const signInTrial =
  ({ gate }: GateParts) =>
  async ({ caller }: Visit): Promise<Response> => {
    const flow = await gate.flows.start(caller, 'login', { language: undefined })
    return new Response(null, { status: 303, headers: { location: flow.hosted_url } })
  }
