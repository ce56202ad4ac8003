/** Short enough for what is put behind it, and for a list. */
const LONGEST = 80

/**
 * What the tenant of somebody who has just signed up is called until they say: nobody asks them, and
 * who comes by an account elsewhere has filled in no form at all. Always a name that tenants may have.
 */
export function firstTenantName({ name, email }: { name: string | undefined; email: string }) {
  const who = name ?? email.slice(0, email.lastIndexOf('@'))
  const [...letters] = who
  return `${letters.slice(0, LONGEST).join('').trim()}’s team`
}
