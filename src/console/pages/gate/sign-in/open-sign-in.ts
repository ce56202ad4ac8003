import type { Context } from '../context.ts'
import type { GateParts } from '../parts.ts'

/** Opens the sign-in page that the tenant's users see. */
export const createOpenSignIn =
  ({ gate }: GateParts) =>
  async ({ caller }: Context): Promise<Response> => {
    const flow = await gate.flows.start(caller, 'login', { language: undefined })
    return new Response(null, { status: 303, headers: { location: flow.hosted_url } })
  }
