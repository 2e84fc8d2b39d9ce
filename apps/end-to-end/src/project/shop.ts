/** What the initializer of the tests plans, and what a task has to have built in the end. */
export const shopTasks = ['login', 'catalog', 'cart', 'search', 'checkout', 'orders', 'returns', 'reports'];

export const planOfShop = {
  goal: 'A shop',
  tasks: shopTasks.map((id, index) => ({
    id,
    title: `Build ${id}`,
    acceptance: [`${id} works end to end`],
    ...(index === 1 && { dependsOn: ['login'] }),
  })),
};

export const contentOf = (id: string): string => `The whole of ${id}.`;
