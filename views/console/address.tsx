import { Text } from './text.tsx'

/** Email address of an operator, marked if it is not verified. */
export const Address = (of: { email: string; isVerified: boolean; limit?: number }) => (
  <>
    <Text text={of.email} {...(of.limit !== undefined && { limit: of.limit })} />
    {!of.isVerified && <span class="hint"> (not verified)</span>}
  </>
)
