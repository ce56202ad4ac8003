/** Most characters of the name, which leaves room for the suffix. */
const MAX_LENGTH = 80

/** Default name of the tenant of a new operator, from their name or email address. Always a valid name. */
export function firstTenantName({ name, email }: { name: string | undefined; email: string }) {
  const who = name ?? email.slice(0, email.lastIndexOf('@'))
  const [...letters] = who
  return `${letters.slice(0, MAX_LENGTH).join('').trim()}’s team`
}
