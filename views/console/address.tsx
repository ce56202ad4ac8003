import { Text } from './text.tsx'

/** The e-mail address of an operator, marked where no one has proven to receive mail there. */
export const Address = (of: { email: string; isVerified: boolean; limit?: number }) => (
  <>
    <Text text={of.email} {...(of.limit !== undefined && { limit: of.limit })} />
    {!of.isVerified && <span class="hint"> (not verified)</span>}
  </>
)
